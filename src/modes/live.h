// SPDX-License-Identifier: Apache-2.0
/* live.h - -t: a script's maps while it runs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Polls the session until it ends, or until `end` (CLOCK_MONOTONIC); meanwhile its maps are drawn again and
 * again on the terminal, or printed where the output is none. */
void live_run(struct session *s, double seconds, bool terminal, uint64_t end);
