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
#include "base/owner.h"
#include "base/str.h"
#include "target/target.h"
#include "values/syscalls.h"

/* proc(5): after the name, which may contain anything, come the state, and utime and stime as the 12th and 13th. Fails
 * for a process that has ended, also if nobody has waited for it (Z). */
static bool read_cpu(struct target *t, int pid, uint64_t *ret_ms)
{
	char *text = proc_read(t, pid, "stat", NULL), *end = text ? strrchr(text, ')') : NULL;
	unsigned long long user, kernel;
	char state;
	bool ok = end && sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &state, &user,
				 &kernel) == 3 && state != 'Z' && state != 'X';

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

/* ---- children ---------------------------------------------------------------- */

enum { CHILDREN_SHOWN = 3 };

struct child_cpu {
	int pid;
	uint64_t ms; /* CPU time since it began */
};

/* Keeps the busiest ones, the first is the busiest. */
static void keep_busiest(struct child_cpu *list, struct child_cpu child)
{
	for (size_t i = 0; i < CHILDREN_SHOWN; i++) {
		struct child_cpu less = list[i];

		if (less.pid && less.ms >= child.ms)
			continue;
		list[i] = child;
		child = less;
	}
}

/* Logs the children that have used the most CPU: a master sleeps while its workers work. */
static void name_children(struct target *t, int pid)
{
	struct child_cpu list[CHILDREN_SHOWN] = {};
	_cleanup_(freep) int *pids = NULL;
	size_t n = proc_list(t, &pids);
	struct str text = {};

	for (size_t i = 0; i < n; i++) {
		struct child_cpu child = {.pid = pids[i]};

		if (proc_parent(t, pids[i]) == pid && read_cpu(t, pids[i], &child.ms) && child.ms)
			keep_busiest(list, child);
	}
	for (size_t i = 0; i < CHILDREN_SHOWN && list[i].pid; i++) {
		_cleanup_(freep) char *comm = proc_read(t, list[i].pid, "comm", NULL);

		str_addf(&text, "%s%d (%.*s, %" PRIu64 " ms of CPU)", i ? ", " : "", list[i].pid,
			comm ? (int)strcspn(comm, "\n") : 0, comm ? comm : "", list[i].ms);
	}
	if (list[0].pid)
		log_hint("its busiest children are %s: try -p %d, or -p %d --children", str_text(&text),
			list[0].pid, pid);
	str_done(&text);
}

/* Returns the system call in which the main thread waits, or NULL (proc(5), syscall: the first word). */
static const char *waits_in(struct target *t, int pid)
{
	_cleanup_(freep) char *text = proc_read(t, pid, "syscall", NULL);
	char *end = text;
	long nr = text ? strtol(text, &end, 10) : -1;

	return end != text && nr >= 0 ? syscall_name(nr) : NULL;
}

static void explain_sleep(struct target *t, int pid, double seconds)
{
	const char *call = waits_in(t, pid);

	log_hint("no events: process %d was asleep for all %.1f s and used no CPU time%s%s", pid, seconds,
		call ? "; it waits in " : "", call ? call : "");
	name_children(t, pid);
	log_hint("strata dump -p %d shows where it waits", pid);
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
		log_hint("try longer, or without predicates; strata list PATTERN finds probes. A uprobe of a file "
			 "does not see a container's copy of it: -p PID does");
	} else if (!read_cpu(t, s->pid, &now)) {
		log_hint("no events: process %d has ended", s->pid);
	} else if (now <= s->cpu_ms) {
		explain_sleep(t, s->pid, seconds);
	} else {
		log_hint("no events: no probe fired in process %d, or every event was filtered out; it used "
			 "%" PRIu64 " ms of CPU in %.1f s", s->pid, now - s->cpu_ms, seconds);
	}
}
