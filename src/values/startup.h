/* SPDX-License-Identifier: Apache-2.0 */
/* startup.h - memory that the C library and the loader allocate for themselves: they keep it until the process ends. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct show;

/* Returns whether the stack of an allocation belongs to the start of the program, or to data of the C library, such as
 * locales. id: as in frames_get(). */
bool startup_stack(const struct show *s, uint64_t id);
