// SPDX-License-Identifier: Apache-2.0
/* walk_server.c - walk_server PID: walks for gdb_compare.py, which keeps the process stopped.
 * Reads lines of registers (pc sp fp, then rax..r15 as in enum rule_reg); answers each with a line:
 * why the walk ended, then "looked-up-address:name" of each frame. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "target/target.h"

static int read_regs(char *line, struct host_regs *ret)
{
	uint64_t *to[17] = {&ret->pc, &ret->sp, &ret->fp};

	*ret = (struct host_regs){.has_other = 1, .machine = EM_X86_64};
	for (int i = 3; i < 17; i++)
		to[i] = &ret->other[i - 1];
	for (int i = 0; i < 17; i++)
		*to[i] = strtoull(line, &line, 0);
	return ret->pc != 0;
}

int main(int argc, char **argv)
{
	struct target *t = target_open("/");
	struct host_process memory;
	char line[1024], name[256];
	struct test_process *p;

	if (argc < 2)
		return 2;
	p = test_process_new(t, atoi(argv[1]));
	host_process_init(&memory, p->pid);
	while (fgets(line, sizeof(line), stdin)) {
		struct host_regs regs;
		struct host_stack s;

		if (!strcmp(line, "maps\n")) {
			test_process_free(p);
			p = test_process_new(t, atoi(argv[1]));
			continue;
		}
		if (!read_regs(line, &regs) ||
			host_walk(&(struct host_thread){&memory.memory, &regs, &p->tables, p->pid}, 0, 4096, &s))
			break;
		printf("%d", s.end);
		for (uint32_t i = 0; i < s.nr; i++) {
			uint64_t at;

			test_frame_name(p, s.frames[i], name, sizeof(name));
			if (!test_frame_address(p, s.frames[i], &at))
				at = s.frames[i] & FRAME_VADDR_MASK;
			printf(" %llx:%s", (unsigned long long)at, name);
		}
		putchar('\n');
		fflush(stdout);
		free(s.frames);
	}
	test_process_free(p);
	target_close(t);
	return 0;
}
