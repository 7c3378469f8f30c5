// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/priority.h"
#include "base/str.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

#define FIRST_NS    20000000ull    /* how long the first try waits for a thread to stop */
#define BLOCKED_NS  1000000000ull  /* how long all threads that did not stop get.. */
#define RUNNABLE_NS 10000000000ull /* ..and a thread that waits for a CPU */

/* Data for all threads of one process. */
struct walk_all {
	struct target *target;
	struct unwinders *unwinders;
	int pid;
	struct thread_note *notes;
	uint64_t longest; /* the longest time that a thread was held, in ns */
};

long threads_list(struct target *t, int pid, struct walked **ret)
{
	_cleanup_(freep) int *tids = NULL;
	ssize_t n = proc_threads(t, pid, &tids);

	if (n < 0)
		return n;
	*ret = calloc((size_t)n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (ssize_t i = 0; i < n; i++)
		(*ret)[i].tid = tids[i];
	return n;
}

/* ---- threads that do not stop -------------------------------------------- */

/* The arguments of a system call are in registers, and an unwind rule may need them. */
static void set_arguments(struct host_regs *regs, const uint64_t *args)
{
#ifdef __aarch64__
	regs->other[RULE_REG_X0] = args[0];
	regs->other[RULE_REG_X1] = args[1];
#else
	regs->other[RULE_REG_RDI] = args[0];
	regs->other[RULE_REG_RSI] = args[1];
	regs->other[RULE_REG_RDX] = args[2];
	regs->other[RULE_REG_R10] = args[3];
	regs->other[RULE_REG_R8] = args[4];
	regs->other[RULE_REG_R9] = args[5];
#endif
	regs->has_other = 1;
}

/* Reads proc(5), syscall: "NR ARG1 .. ARG6 SP PC", or "-1 SP PC". Other registers are not known: a rule
 * that needs one gets 0, and the walk ends there. */
static int blocked_regs(const struct walk_all *all, int tid, struct host_regs *ret)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t args[6];
	char file[64];

	snprintf(file, sizeof(file), "task/%d/syscall", tid);
	text = proc_read(all->target, all->pid, file, NULL);
	*ret = (struct host_regs){.tid = (uint32_t)tid, .machine = MACHINE, .address_bits = target_address_bits()};
	if (text && sscanf(text, "-1 %" SCNx64 " %" SCNx64, &ret->sp, &ret->pc) == 2)
		return 0;
	if (!text || sscanf(text, "%*d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		" %" SCNx64, &args[0], &args[1], &args[2], &args[3], &args[4], &args[5], &ret->sp, &ret->pc) != 8)
		return -ESRCH;
	set_arguments(ret, args);
	return 0;
}

static void walk_blocked(const struct walk_all *all, struct walked *w)
{
	struct host_regs regs;

	w->is_blocked = true;
	if (!blocked_regs(all, w->tid, &regs))
		w->is_walked = !unwinders_walk(all->unwinders, all->pid, &regs, 0, UNWIND_LIMIT_MAX, &w->stack);
}

static bool is_uninterruptible(const struct walk_all *all, int tid)
{
	return proc_thread_state(all->target, all->pid, tid) == 'D';
}

void thread_kernel_stack(struct target *t, int pid, int tid, struct str *out)
{
	_cleanup_(freep) char *text = NULL;
	char file[64], *rest, *line;

	snprintf(file, sizeof(file), "task/%d/stack", tid);
	rest = text = proc_read(t, pid, file, NULL);
	while (rest && (line = strsep(&rest, "\n"))) {
		const char *name = strchr(line, ' ');
		unsigned long offset;
		int n = 0;

		if (name && sscanf(name + 1, "%*[^+]%n+%lx", &n, &offset) == 1)
			str_addf(out, "\n        %.*s+%lu [kernel]", n, name + 1, offset);
	}
}

/* ---- threads that stop ----------------------------------------------------- */

/* Reads the notes before the first thread is held, because this takes milliseconds. */
static int read_notes(struct walk_all *all, const struct walked *w, size_t n)
{
	all->notes = calloc(n + 1, sizeof(*all->notes));
	if (!all->notes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		all->notes[i].tid = w[i].tid;
	unwinders_note_threads(all->unwinders, all->pid, NULL, all->notes, n);
	return 0;
}

/* Walks a thread that is held, and lets it continue. */
static int walk_held(struct walk_all *all, struct walked *w, const struct thread_note *note)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), held;
	struct host_regs regs;
	int r = stopped_regs(w->tid, &regs);

	if (!r)
		r = unwinders_walk(all->unwinders, all->pid, &regs, 0, UNWIND_LIMIT_MAX, &w->stack);
	w->holds_lock = unwinders_holds_lock(all->pid, NULL, note);
	stopped_release(w->tid);
	w->is_walked = !r;
	held = clock_ns(CLOCK_MONOTONIC) - start;
	all->longest = held > all->longest ? held : all->longest;
	return r;
}

/* Returns -EBUSY for a thread in state D, which is not asked to stop, -ETIMEDOUT for a thread that has not
 * stopped yet. */
static int walk_now(struct walk_all *all, struct walked *w, const struct thread_note *note)
{
	int r = is_uninterruptible(all, w->tid) ? -EBUSY : stopped_hold(w->tid, FIRST_NS);

	return r ? r : walk_held(all, w, note);
}

static uint64_t time_until(uint64_t end)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now < end ? end - now : 0;
}

/* A system call in state D may end at any time, and a runnable thread stops when it gets a CPU. */
static void walk_late(struct walk_all *all, struct walked *w, const struct thread_note *note, bool is_asked,
	uint64_t end)
{
	int r;

	while (!is_asked && is_uninterruptible(all, w->tid) && time_until(end))
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	if (is_asked)
		r = stopped_wait(w->tid, time_until(end));
	else
		r = is_uninterruptible(all, w->tid) ? -EBUSY : stopped_hold(w->tid, time_until(end));
	if (r == -ETIMEDOUT && !is_uninterruptible(all, w->tid))
		r = stopped_wait(w->tid, RUNNABLE_NS);
	if (!r)
		walk_held(all, w, note);
	else if (r == -EBUSY || r == -ETIMEDOUT)
		walk_blocked(all, w);
}

int threads_walk(struct target *t, struct unwinders *u, int pid, struct walked *ret, size_t n)
{
	struct walk_all all = {t, u, pid, NULL, 0};
	_cleanup_(freep) int *late = calloc(n + 1, sizeof(*late)); /* 0, or why a thread was not walked */
	int r = late ? unwinders_add_process(u, pid) : -ENOMEM; /* tables are made before a thread is held */
	uint64_t end;

	r = r ? r : read_notes(&all, ret, n);
	priority_raise(); /* waiting for a CPU here would hold a thread longer */
	priority_urgent();

	for (size_t i = 0; i < n && !r; i++) {
		late[i] = walk_now(&all, &ret[i], &all.notes[i]);
		if (late[i] == -EPERM)
			r = late[i];
	}
	priority_normal();
	end = clock_ns(CLOCK_MONOTONIC) + BLOCKED_NS;
	for (size_t i = 0; i < n && !r; i++)
		if (late[i] == -EBUSY || late[i] == -ETIMEDOUT)
			walk_late(&all, &ret[i], &all.notes[i], late[i] == -ETIMEDOUT, end);
	for (size_t i = 0; i < n && all.notes; i++)
		ret[i].name = TAKE(all.notes[i].name);
	thread_notes_free(all.notes, all.notes ? n : 0);
	if (!r)
		log_info("each thread of process %d was held for at most %" PRIu64 " us", pid, all.longest / 1000);
	return r;
}
