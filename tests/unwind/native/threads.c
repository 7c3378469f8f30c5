// SPDX-License-Identifier: Apache-2.0
/* threads.c - threads PID: walks all threads of a process, which it holds. Prints a line for each: its number,
 * the reason why its walk ended, in brackets, and the lookup addresses of its frames; "-" is a frame that has a
 * number of its language instead. Loops of interpreters are native code here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "process.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"

static void print_frame(const struct test_process *p, uint64_t frame)
{
	uint64_t address;

	if (test_frame_address(p, frame, &address))
		printf(" %" PRIx64, address);
	else
		printf(" -");
}

static void walk(struct test_process *p, struct host_memory *memory, int tid)
{
	struct host_regs regs;
	struct host_stack s;

	if (stopped_regs(tid, &regs) ||
		host_walk(&(struct host_thread){memory, &regs, &p->tables, p->pid}, 0, UNWIND_LIMIT_MAX, &s))
		return;
	printf("%d [%s]", tid, unwind_end_text(s.end));
	for (uint32_t i = 0; i < s.nr; i++)
		print_frame(p, s.frames[i]);
	putchar('\n');
	free(s.frames);
}

int main(int argc, char **argv)
{
	struct target *t = target_open("/");
	int pid = argc > 1 ? atoi(argv[1]) : 0;
	struct host_process memory;
	struct test_process *p;
	struct stopped held;

	if (!pid || stopped_open(pid, &held))
		return 1;
	p = test_process_new(t, pid);
	host_process_init(&memory, pid);
	for (size_t i = 0; i < held.n; i++)
		walk(p, &memory.memory, held.tids[i]);
	stopped_close(&held);
	test_process_free(p);
	target_close(t);
	return 0;
}
