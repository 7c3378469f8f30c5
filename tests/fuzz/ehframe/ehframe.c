// SPDX-License-Identifier: Apache-2.0
/* ehframe.c - reads any bytes as an ELF file: symbols, the unwind table, lookups in the table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "target/fde.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t size_of_file(const struct elf *e)
{
	size_t size;

	elf_data(e, &size);
	return size;
}

/* For a file whose symbols were not read yet. */
static void some_at_once(struct elf *e)
{
	uint64_t vaddrs[16], start;
	struct elf_symbol found[16];

	for (int i = 0; i < 16; i++)
		vaddrs[i] = elf_entry(e) + (uint64_t)i * 61;
	elf_symbols_at(e, vaddrs, vaddrs[15] > vaddrs[0] ? 16 : 1, found);
	for (int i = 0; i < 16; i++)
		fde_find_function(e, vaddrs[i], &start);
}

static void read_all(struct elf *e)
{
	const struct elf_symbol *s;
	size_t n = elf_symbols(e, &s);
	struct elf_symbol named;
	struct elf_section section;

	for (size_t i = 0; i < n && i < 16; i++)
		elf_symbol_at(e, s[i * (n / 16 + 1) % n].vaddr + i);
	elf_symbol_named(e, "main", &named);
	elf_section(e, ".text", &section);
	for (const char *const *p = elf_needed(e); *p; p++)
		if (strlen(*p) == 0)
			abort();
	for (const char *const *p = elf_runpath(e); *p; p++)
		if (strlen(*p) == 0)
			abort();
	if (elf_interp(e) && strlen(elf_interp(e)) > size_of_file(e))
		abort();
}

static void check_rows(struct elf *e)
{
	struct eh_rows rows;

	if (ehframe_read(e, &rows) < 0)
		return;
	for (size_t i = 1; i < rows.len; i++)
		if (rows.data[i].vaddr <= rows.data[i - 1].vaddr ||
			rows.data[i].rule == rows.data[i - 1].rule)
			abort();
	if (rows.len && rows.data[rows.len - 1].rule)
		abort();
	eh_rows_done(&rows);
}

static void check_table(struct elf *e)
{
	struct table t;

	if (table_make(e, &t) < 0)
		return;
	if (!table_valid(t.data, t.size))
		abort();
	for (uint64_t i = 0; i < 64; i++) {
		table_rule(t.data, elf_entry(e) + i * 37);
		table_rule(t.data, i << 58);
	}
	table_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf *e;

	if (elf_open_memory(data, size, &e) < 0)
		return 0;
	some_at_once(e);
	read_all(e);
	check_rows(e);
	check_table(e);
	elf_close(e);
	/* The same bytes as a table: if it is valid, look up entries in it. */
	if (table_valid(data, size & ~7ul))
		table_rule(data, 0);
	return 0;
}
