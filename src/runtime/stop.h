// SPDX-License-Identifier: Apache-2.0
/* stop.h - the signals that end a script: SIGINT, SIGTERM, SIGHUP.
 *
 * The first asks the script to end. From then on SIGALRM comes every 50 ms, so that a
 * write that blocks returns with EINTR. The second ends strata at once, as the signal
 * does by default, and kills the command of -c. SIGPIPE is ignored: writing fails with
 * EPIPE, see output/stream.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs the handlers, of SIGINT only if interrupts is set: an fd (owned here) that is readable once a
 * signal has come, or -errno. */
int stop_open(bool interrupts);
bool stop_asked(void);
/* Milliseconds since then; 0 while there was none. */
unsigned stop_age(void);
/* Called before the second signal ends strata; it must be async-signal-safe. NULL: nothing. */
void stop_restores(void (*restore)(void));
/* The process that the second signal kills; 0: none. */
void stop_kills(pid_t pid);
