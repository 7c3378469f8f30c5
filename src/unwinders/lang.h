// SPDX-License-Identifier: Apache-2.0
/* unwinder_row.h - what a language's unwinder tells the native one. */
#pragma once
#include <stdint.h>

struct eh_rows;
struct elf;
struct table_header;

struct unwinder {
	const char *name;
	uint32_t version; /* goes up when load() changes: cached tables are made anew */
	/* While a file's table is made: may set flags, nranges, range[] in the header (its
	 * base is set). 0, or -errno: not this language's, or not understood. */
	int (*load)(struct elf *e, struct table_header *hdr);
	/* NULL, or: the rows of its own code, in place of what .eh_frame says. Likewise. */
	int (*rows)(struct elf *e, struct eh_rows *rows);
};

/* NULL-terminated: the list in rows.c. */
extern const struct unwinder *const unwinder_rows[];
