// SPDX-License-Identifier: Apache-2.0
/* steps.c - steps a thread of Java, and prints each of its stacks: steps PID TID INSTRUCTIONS
 *
 * A line has the number of instructions with that stack, the end of the walk, and the frames, innermost first;
 * tabs separate them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/str.h"
#include "base/vec.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"

#define STACKS (1u << 16) /* maximum number of different stacks */

struct seen {
	uint64_t id;
	unsigned n;
	enum unwind_end end;
	char *text;
};
static struct seen seen[STACKS];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void add_frame(const struct frame_name *name, struct str *out)
{
	str_addc(out, '\t');
	str_addf(out, "%s", name->name ? name->name : "?");
	if (name->lang != FRAME_LANG_JAVA) /* as strata shows functions of C */
		str_add(out, "+1");
	else if (name->file)
		str_addf(out, name->line ? " %s:%u" : " %s", name->file, name->line);
}

/* Methods that Java hides are not shown below another frame. */
static char *text_of(struct unwinders *u, uint64_t id, enum unwind_end *end)
{
	const uint64_t *frames;
	struct str out = {};
	ssize_t n = unwinders_stack(u, id, &frames, end);

	for (ssize_t i = 0; i < n; i++) {
		struct frame_name name;

		unwinders_name(u, frames[i], &name);
		for (const struct frame_name *f = &name; f; f = f->caller)
			if (!f->wrapper || !out.len)
				add_frame(f, &out);
	}
	return out.data;
}

static void count(struct unwinders *u, uint64_t id)
{
	unsigned k = (unsigned)(id * 0x9e3779b97f4a7c15ull >> 48);

	while (seen[k].n && seen[k].id != id)
		k = (k + 1) % STACKS;
	if (!seen[k].n++) {
		seen[k].id = id;
		seen[k].text = text_of(u, id, &seen[k].end);
	}
}

int main(int argc, char **argv)
{
	struct target *t = target_open("/");
	struct walk_maps *maps = NULL;
	struct unwinders *u = NULL;
	int pid, tid, status, signal = 0;

	if (argc != 4)
		return 2;
	pid = atoi(argv[1]);
	tid = atoi(argv[2]);
	if (!t || walk_maps_memory(&maps) || unwinders_new(t, maps, &u) || unwinders_add_process(u, pid))
		die("cannot set up the walk");
	if (stopped_hold(tid, 10000000000ull))
		die("the thread does not stop");
	for (int left = atoi(argv[3]); left; left--) {
		struct host_regs regs;
		uint64_t id;

		if (stopped_regs(tid, &regs) || unwinders_walk(u, pid, &regs, 0, UNWIND_LIMIT_MAX, &id))
			die("the thread cannot be walked");
		count(u, id);
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, signal) || waitpid(tid, &status, __WALL) != tid ||
			!WIFSTOPPED(status))
			die("the thread does not step");
		signal = status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	stopped_release(tid);
	for (unsigned k = 0; k < STACKS; k++)
		if (seen[k].n)
			printf("%u\t%d%s\n", seen[k].n, seen[k].end, seen[k].text ? seen[k].text : "");
	unwinders_free(u);
	target_close(t);
	return 0;
}
