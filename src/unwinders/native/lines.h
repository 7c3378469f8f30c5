// SPDX-License-Identifier: Apache-2.0
/* lines.h - the source lines of addresses, from a unit's line table (.debug_line of DWARF 2 to 5). The table is run for
 * all wanted addresses at once, and nothing is stored: libdw keeps each row of each table that was read. Tables are
 * untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct str;

struct line_text { /* a section of strings; empty: the file does not have it */
	const uint8_t *data;
	size_t size;
};

struct line_sections {
	struct line_text line, str, line_str;
};

struct line_row {
	uint32_t file;         /* number in the table, as lines_file() takes it */
	uint32_t line, column; /* 0: unknown */
	uint64_t sequence;     /* start of the row's sequence; for lines_find() */
	bool found;
};

struct line_range {
	uint64_t start, end;
};

/* Finds the rows of n sorted addresses in the table at that offset. Rows of earlier calls are kept where this table has
 * none; zeroed rows are not found. Returns false if the table is damaged; rows before the damage count. */
bool lines_find(const struct line_sections *s, uint64_t at, const uint64_t *vaddrs, size_t n, struct line_row *rows);
struct line_addresses {
	VEC(uint64_t) list;
};
/* Appends the addresses of rows in one of n sorted ranges to out; at most max. */
void lines_rows(const struct line_sections *s, uint64_t at, const struct line_range *ranges, size_t n, size_t max,
	struct line_addresses *out);
/* Appends the path of a file of the table. comp_dir: the unit's directory, or NULL. Returns false if there is no such
 * file. */
bool lines_file(const struct line_sections *s, uint64_t at, uint32_t file, const char *comp_dir, struct str *out);
