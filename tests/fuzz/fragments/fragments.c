// SPDX-License-Identifier: Apache-2.0
/* fragments.c - reads any bytes as an ELF file that contains an interpreter's loop named "loop". */
#include <stdint.h>
#include <stdlib.h>

#include "target/elf.h"
#include "unwinders/native/fragments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct elf *e, unsigned want)
{
	static const char *const names[] = {"loop", "main", NULL};
	struct fragments p;

	if (fragments_find_by(e, names, want, &p))
		return;
	if (!p.n || p.n > TABLE_RANGES)
		abort();
	for (unsigned i = 0; i < p.n; i++) {
		if (p.fragment[i].start >= p.fragment[i].end)
			abort();
		if (i && p.fragment[i].start <= p.fragment[i - 1].end)
			abort();
	}
}

static void check_load(struct elf *e)
{
	static const char *const names[] = {"loop", NULL};
	struct table_header h = {.base = 0x1000};

	if (fragments_load(e, names, &h))
		return;
	for (uint32_t i = 0; i < h.nranges; i++)
		if (h.range[i].start >= h.range[i].end)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf *e;

	if (elf_open_memory(data, size, &e))
		return 0;
	check(e, TABLE_BY_JUMPS | TABLE_BY_NAMES | TABLE_BY_SIZE);
	check(e, TABLE_BY_NAMES);
	check(e, TABLE_BY_SIZE);
	check_load(e);
	elf_close(e);
	return 0;
}
