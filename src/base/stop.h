// SPDX-License-Identifier: Apache-2.0
/* stop.h - signals that end a script: SIGINT, SIGTERM, SIGHUP, and others that would end strata without
 * printing its maps, such as SIGXCPU of ulimit -t.
 *
 * The first signal asks the script to end. From then on SIGALRM comes every 50 ms, so that a blocked write
 * returns with EINTR. The second signal ends strata at once, with the signal's default effect, and kills
 * the command of -c. SIGPIPE is ignored: a write fails with EPIPE, see output/stream.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs the handlers; the one of SIGINT only if interrupts is set. Returns -errno on failure, else an fd
 * (owned here) that is readable after the first signal. */
int stop_open(bool interrupts);
bool stop_asked(void);
/* Returns the milliseconds since the first signal, or 0 before it. */
unsigned stop_age(void);
/* Handles signals that do not end a script: SIGUSR1 and SIGUSR2, as in bpftrace, and SIGXFSZ, after which a
 * write fails with EFBIG. Called before anything else. The commands that strata runs do not inherit the
 * handlers. */
void stop_survive(void);
/* Sets a function that is called before the second signal, SIGQUIT or a crash ends strata; it must be
 * async-signal-safe. NULL removes it. Returns the previous function. */
void (*stop_restores(void (*restore)(void)))(void);
/* Sets the process that the second signal kills; 0 for no process. */
void stop_kills(pid_t pid);
