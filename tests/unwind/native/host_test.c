// SPDX-License-Identifier: Apache-2.0
/* host_test.c - walks stopped programs whose stacks are known, and a program at each instruction
 * while it is stepped: host_test PROGRAM.. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"

#define STEPS 30000

static struct target *target;

static struct child start_stopped(const char *program, const char *depth, const char *mode)
{
	struct child c = child_start(program, depth, mode);

	if (ptrace(PTRACE_SEIZE, c.pid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, c.pid, 0, 0) < 0 ||
		waitpid(c.pid, NULL, __WALL) != c.pid) {
		perror("ptrace");
		exit(77); /* skipped: ptrace may be forbidden */
	}
	return c;
}

static struct host_stack walk(struct test_process *p)
{
	struct host_process memory;
	struct host_regs regs;
	struct host_stack s;

	if (stopped_regs(p->pid, &regs) < 0)
		abort();
	host_process_init(&memory, p->pid);
	if (host_walk(&(struct host_thread){&memory.memory, &regs, &p->tables, p->pid}, 0, UNWIND_LIMIT_MAX, &s) < 0)
		abort();
	return s;
}

/* ---- known stacks ------------------------------------------------------ */

static void test_depth(const char *program, const char *depth)
{
	struct child c = start_stopped(program, depth, NULL);
	struct test_process *p = test_process_new(target, c.pid);
	struct host_stack s = walk(p);
	char what[128];

	snprintf(what, sizeof(what), "depth %s: %zu names in %u frames", depth, c.n, s.nr);
	ok(child_agrees(p, &c, &s), program, what);
	free(s.frames);
	test_process_free(p);
	child_finish(&c);
}

/* ---- each instruction -------------------------------------------------- */

/* At every instruction the walk finds main and _start. */
static int reaches_start(struct test_process *p, const struct host_stack *s)
{
	char name[256];
	int main_seen = 0;

	for (size_t i = s->nr < 12 ? 0 : s->nr - 12; i < s->nr; i++) {
		test_frame_name(p, s->frames[i], name, sizeof(name));
		main_seen |= !strcmp(name, "main");
	}
	return main_seen && !strcmp(name, "_start") && s->end == UNWIND_COMPLETE;
}

/* Returns whether libgcc is about to enter a landing pad: before it jumps, it overwrites the registers that
 * its own frame saved with those of the landing frame, one by one (arm64: 97, LR among the first).
 * In between no walk can be right. */
static int is_landing(struct test_process *p, const struct host_stack *s)
{
	char name[256];

	for (size_t i = 0; i < s->nr && i < 4; i++) {
		test_frame_name(p, s->frames[i], name, sizeof(name));
		if (!strncmp(name, "_Unwind_", 8))
			return 1;
	}
	return 0;
}

/* The most steps that may be in that state: there are one to three throws, with 54 each on x86_64. */
#ifdef __aarch64__
#define LANDINGS (STEPS / 25)
#else
#define LANDINGS (STEPS / 100)
#endif

/* A step that delivers a signal stops at the handler's first instruction. */
static int step(int pid)
{
	static int signal;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal) < 0 || waitpid(pid, &status, __WALL) != pid ||
		!WIFSTOPPED(status))
		return -1;
	signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return 0;
}

static void test_steps(const char *program)
{
	struct child c = start_stopped(program, "24", "step");
	struct test_process *p = test_process_new(target, c.pid);
	unsigned good = 0, landing = 0, n = 0;
	char what[128];

	while (n < STEPS && step(c.pid) == 0) {
		struct host_stack s = walk(p);

		if (reaches_start(p, &s))
			good++;
		else if (is_landing(p, &s))
			landing++;
		else if (n - good - landing < 5)
			show_frames(p, &s, 0);
		free(s.frames);
		n++;
	}
	snprintf(what, sizeof(what), "stepped: %u of %u, and %u before a throw lands", good, n, landing);
	ok(good + landing == n && landing <= (strstr(program, "cxx") ? LANDINGS : 0) && n == STEPS,
		program, what);
	test_process_free(p);
	child_finish(&c);
}

int main(int argc, char **argv)
{
	static const char *const depths[] = {"1", "10", "100", "1000", "5000"};

	stay_on_cpu();
	target = target_open("/");
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(depths) / sizeof(depths[0]); k++)
			test_depth(argv[i], depths[k]);
		test_steps(argv[i]);
	}
	target_close(target);
	return plan();
}
