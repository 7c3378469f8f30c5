// SPDX-License-Identifier: Apache-2.0
/* stop.h - signals. Those that end a script: SIGINT, SIGTERM, SIGHUP, and others that would end strata without its
 * maps, such as SIGXCPU of ulimit -t.
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
/* Signals that end no script: SIGUSR1 and SIGUSR2, as in bpftrace, and SIGXFSZ, after which a write fails with EFBIG.
 * Called first of all. Handlers are not inherited by the commands that strata runs. */
void stop_survive(void);
/* Called before the second signal, SIGQUIT or a crash ends strata; it must be async-signal-safe. NULL: nothing. Returns
 * what was called so far. */
void (*stop_restores(void (*restore)(void)))(void);
/* The process that the second signal kills; 0: none. */
void stop_kills(pid_t pid);
