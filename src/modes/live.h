// SPDX-License-Identifier: Apache-2.0
/* live.h - -t shows a script's maps while it runs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Polls the session until it ends, or until `end` (CLOCK_MONOTONIC). Draws its maps on the terminal every
 * `seconds`, or prints them if the output is not a terminal. */
void live_run(struct session *s, double seconds, bool terminal, uint64_t end);
