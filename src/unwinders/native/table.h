// SPDX-License-Identifier: Apache-2.0
/* table.h - the paged table of rules that the walk reads, see bpf/walk/unwind.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct elf;

struct table {
	const void *data; /* struct table_header and the rest; a multiple of 8 */
	size_t size;
	void *map;        /* mapping of the cache file with the table, or NULL: malloc()ed */
	size_t map_size;
	bool is_cut;      /* rules of large pieces of code are missing: unframed_rows() had no room */
};

/* Returns the largest number of bytes that table_make() uses at a time, with those of the result and of its copies in
 * the cache and in the kernel: an estimate from the size of the file's call frame information. */
uint64_t table_needs(const struct elf *e);
/* A file without any rule has a table without pages. Returns 0 on success, -errno on failure. */
int table_make(struct elf *e, struct table *ret);
void table_done(struct table *t);

/* Returns whether the walk may read the table: checks magic, version and every offset. */
bool table_valid(const void *data, size_t size);
/* Returns the rule at vaddr, or 0 if there is none. For tests and -v. */
uint64_t table_rule(const void *table, uint64_t vaddr);
