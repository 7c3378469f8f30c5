// SPDX-License-Identifier: Apache-2.0
/* tables.c - measures the time in which strata makes a file's table: tables FILE. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "target/elf.h"
#include "target/pclntab.h"
#include "unwinders/native/table.h"

#define ROUNDS 9

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const struct table_header *h;
	struct pclntab *go = NULL;
	struct table table = {};
	struct elf *e = NULL;
	double ms[ROUNDS];

	if (argc != 2 || elf_open(argv[1], &e))
		return 1;
	for (int i = 0, k; i < ROUNDS; i++) {
		double start = now_ms(), v;

		table_done(&table);
		if (table_make(e, &table))
			return 1;
		v = now_ms() - start;
		for (k = i; k > 0 && ms[k - 1] > v; k--)
			ms[k] = ms[k - 1];
		ms[k] = v;
	}
	h = table.data;
	pclntab_open(e, &go);
	printf("%.1f ms (%.1f to %.1f), %u rows of %u pages, %zu Go functions, %zu bytes\n", ms[ROUNDS / 2],
		ms[0], ms[ROUNDS - 1], h->nrows, h->npages, go ? pclntab_functions(go) : 0, table.size);
	pclntab_close(go);
	table_done(&table);
	elf_close(e);
	return 0;
}
