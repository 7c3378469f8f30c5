// SPDX-License-Identifier: Apache-2.0
/* rows.c - prints the rules of a file, and the functions without call frame information that were found. Usage: rows
 * FILE [ADDRESS]: all rules, or the one at the address. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/elf.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/unframed.h"

static void print_rule(uint64_t vaddr, uint64_t rule)
{
	printf("%" PRIx64 " kind %d reg %d slot %d offset %d\n", vaddr, (int)RULE_KIND(rule), (int)RULE_REG(rule),
		(int)RULE_SLOT(rule), (int)RULE_OFFSET(rule));
}

int main(int argc, char **argv)
{
	struct eh_ranges functions = {};
	struct eh_rows rows;
	struct elf *e;
	uint64_t at = argc > 2 ? strtoull(argv[2], NULL, 16) : 0;

	if (argc < 2 || elf_open(argv[1], &e) || ehframe_read(e, &rows))
		return 1;
	unframed_rows(e, &rows, &functions);
	for (size_t i = 0; i < rows.len; i++)
		if (!at || (rows.data[i].vaddr <= at && (i + 1 == rows.len || at < rows.data[i + 1].vaddr)))
			print_rule(rows.data[i].vaddr, rows.data[i].rule);
	for (size_t i = 0; i < functions.len; i++)
		if (!at || (functions.data[i].start <= at && at < functions.data[i].end))
			printf("function %" PRIx64 " %" PRIx64 "\n", functions.data[i].start, functions.data[i].end);
	eh_rows_done(&rows);
	eh_ranges_done(&functions);
	elf_close(e);
	return 0;
}
