// SPDX-License-Identifier: Apache-2.0
/* core.c - reads any bytes as a core file: its threads, its mappings, its memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "target/target.h"
#include "unwinders/procs/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_threads(struct core *c)
{
	uint8_t stack[256];

	for (size_t i = 0; i < core_threads(c) && i < 64; i++) {
		const struct host_regs *r = core_regs(c, i);
		struct host_memory *m = core_memory(c);

		core_tid(c, i);
		m->read(m, r->sp, stack, sizeof(stack));
		m->read(m, r->sp + 4096 - 8, stack, sizeof(stack));
		m->read(m, UINT64_MAX - 100, stack, sizeof(stack));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct proc_map *maps;
	struct elf *e = NULL;
	struct core *c = NULL;
	size_t n;

	if (elf_open_memory(data, size, &e) || core_open(e, &c))
		return 0;
	check_threads(c);
	n = core_maps(c, &maps);
	for (size_t i = 0; i < n; i++)
		if (maps[i].start >= maps[i].end || strlen(maps[i].path) > size)
			abort();
	if (core_exe(c) && strlen(core_exe(c)) > size)
		abort();
	if (strlen(core_facts(c)->name) > 16 || strlen(core_facts(c)->args) > 80)
		abort();
	core_close(c);
	return 0;
}
