/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - waits that are idle by nature: a thread has no work and waits for some. They explain no delay. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct show;

/* Returns whether the stack of a wait is idle by nature; in doubt it is not. id: as in frames_get(). */
bool idle_stack(const struct show *s, uint64_t id);
