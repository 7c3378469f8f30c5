// SPDX-License-Identifier: Apache-2.0
/* silence.c - reasons why a script had no events: a process that slept all the time fires no
 * probe and is never sampled. */
#include "silence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "target/target.h"

/* proc(5): after the name, which may contain anything, utime and stime are the 12th and 13th. */
static bool read_cpu(struct target *t, int pid, uint64_t *ret_ms)
{
	char *text = proc_read(t, pid, "stat", NULL), *end = text ? strrchr(text, ')') : NULL;
	unsigned long long user, kernel;
	bool ok = end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &kernel) == 2;

	if (ok)
		*ret_ms = (user + kernel) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	free(text);
	return ok;
}

void silence_begin(struct silence *s, struct target *t, int pid, bool command)
{
	s->command = command;
	s->pid = pid;
	s->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (!pid || !read_cpu(t, pid, &s->cpu_ms))
		s->cpu_ms = 0;
}

void silence_expect(struct target *t, const uint32_t *named, unsigned n)
{
	uint64_t cpu_ms;

	for (unsigned i = 0; i < n; i++)
		if (!read_cpu(t, (int)named[i], &cpu_ms))
			log_hint("no process has the ID %" PRIu32 ", which the script names", named[i]);
}

void silence_explain(const struct silence *s, struct target *t)
{
	double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - s->start_ns) / 1e9;
	uint64_t now;

	if (s->command) {
		log_hint("no events: the command ran for %.0f ms; no probe fired in it, or every event was "
			 "filtered out", 1000 * seconds);
	} else if (!s->pid) {
		log_hint("no events: no probe fired, or every event was filtered out");
	} else if (!read_cpu(t, s->pid, &now)) {
		log_hint("no events: process %d has ended", s->pid);
	} else if (now <= s->cpu_ms) {
		log_hint("no events: process %d was asleep all the %.1f s, it used no CPU", s->pid, seconds);
		log_hint("strata offcpu -p %d shows what it waits for, strata dump -p %d where it is now", s->pid,
			s->pid);
	} else {
		log_hint("no events: no probe fired in process %d, or every event was filtered out; it used "
			 "%" PRIu64 " ms of CPU in %.1f s", s->pid, now - s->cpu_ms, seconds);
	}
}
