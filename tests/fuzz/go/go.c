// SPDX-License-Identifier: Apache-2.0
/* go.c - reads any bytes as a Go program: its functions, their source positions, its unwind rules. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "target/pclntab.h"
#include "unwinders/go/go.h"
#include "unwinders/lang.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LOOKUPS 64

static void check_places(const struct pclntab *t, uint64_t vaddr)
{
	struct pcln_position places[PCLN_POSITIONS_MAX];
	size_t n = pclntab_positions(t, vaddr, places);

	if (n > PCLN_POSITIONS_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		if (strlen(places[i].function) > 1u << 20 ||
			(places[i].file && strlen(places[i].file) > 1u << 20))
			abort();
}

static void check_functions(const struct pclntab *t)
{
	size_t n = pclntab_functions(t);
	struct pcln_function f;
	struct pcln_values v;

	for (size_t i = 0; i < n && i < LOOKUPS; i++) {
		if (!pclntab_function(t, i * (n / LOOKUPS + 1) % n, &f))
			continue;
		pclntab_sp(t, &f, &v);
		for (int k = 0; k < 4096 && pclntab_next(&v); k++)
			if (v.end <= v.start)
				abort();
		check_places(t, f.start);
		check_places(t, f.end - 1);
		check_places(t, f.start + (f.end - f.start) / 2);
	}
}

static void check_rows(struct elf *e)
{
	struct eh_rows rows = {};

	if (!lang_go.rules(e, &rows))
		for (size_t i = 1; i < rows.len; i++)
			if (rows.data[i].vaddr <= rows.data[i - 1].vaddr)
				abort();
	eh_rows_done(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf *e = NULL;
	struct pclntab *t = NULL;

	if (elf_open_memory(data, size, &e))
		return 0;
	if (!pclntab_open(e, &t)) {
		check_functions(t);
		pclntab_close(t);
	}
	check_rows(e);
	lang_go.table(e, &(struct table_header){});
	elf_close(e);
	return 0;
}
