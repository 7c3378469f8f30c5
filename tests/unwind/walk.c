// SPDX-License-Identifier: Apache-2.0
/* walk.c - stops a process and prints its stacks, for tests:
 *
 *     walk [-p] [-l LIMIT] PID...
 *
 * It prints a block per thread: "thread TID", a line per frame ("py NAME FILE:LINE", "c NAME
 * MODULE"), "end REASON". -p: Python frames only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"

static void print_safe(const char *text)
{
	struct str s = {};

	str_add_safe(&s, text, strlen(text));
	fputs(str_text(&s), stdout);
	str_done(&s);
}

static void print_frame(struct unwinders *u, uint64_t frame)
{
	struct frame_name n;

	unwinders_name(u, frame, &n);
	fputs(n.lang == FRAME_LANG_PYTHON ? "py " : "c ", stdout);
	print_safe(n.name ? n.name : "?");
	if (n.lang == FRAME_LANG_PYTHON)
		printf(" %s:%u\n", n.file ? n.file : "?", n.line);
	else
		printf("+%#llx %s\n", (unsigned long long)n.offset, n.module ? n.module : "?");
}

static int walk_thread(struct unwinders *u, int pid, int tid, uint32_t filter, uint32_t limit)
{
	struct host_regs regs;
	const uint64_t *frames;
	enum unwind_end end;
	uint64_t id = 0;
	ssize_t n;

	if (stopped_regs(tid, &regs) || unwinders_walk(u, pid, &regs, filter, limit, &id))
		return 1;
	n = unwinders_stack(u, id, &frames, &end);
	printf("thread %d\n", tid);
	for (ssize_t i = 0; i < n; i++)
		print_frame(u, frames[i]);
	printf("end %s\n", unwind_end_text(end));
	return 0;
}

static int walk_process(struct unwinders *u, int pid, uint32_t filter, uint32_t limit)
{
	struct stopped s;
	int failed;

	if (stopped_open(pid, &s))
		return 1;
	failed = !s.n;
	for (size_t i = 0; i < s.n; i++)
		failed |= walk_thread(u, pid, s.tids[i], filter, limit);
	stopped_close(&s);
	return failed;
}

int main(int argc, char **argv)
{
	uint32_t filter = 0;
	uint32_t limit = UNWIND_LIMIT_DEFAULT;
	struct target *t = target_open("/");
	struct walk_maps *maps;
	struct unwinders *u;
	struct str stats = {};
	int failed = 0, opt;

	while ((opt = getopt(argc, argv, "pl:")) != -1) {
		if (opt == 'p')
			filter = 1U << FRAME_LANG_PYTHON;
		else if (opt == 'l')
			limit = (uint32_t)atoi(optarg);
		else
			return 2;
	}
	if (!t || walk_maps_memory(&maps) || unwinders_new(t, maps, &u))
		return 2;
	for (; optind < argc; optind++)
		failed |= walk_process(u, atoi(argv[optind]), filter, limit);
	unwinders_stats(u, &stats);
	fputs(str_text(&stats), stderr);
	str_done(&stats);
	unwinders_free(u);
	target_close(t);
	return failed;
}
