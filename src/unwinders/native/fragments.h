// SPDX-License-Identifier: Apache-2.0
/* fragments.h - finds all of the code of an interpreter's loop. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct elf;

struct fragment { /* half open */
	uint64_t start, end;
};

struct fragments {
	struct fragment fragment[TABLE_RANGES]; /* ascending, disjoint */
	unsigned n;
	unsigned found;      /* enum table_flags: TABLE_BY_*, the ways in which parts were found */
	bool decoded;        /* this machine has a disassembler */
	unsigned dispatches; /* indirect jumps in the fragments; 0 if not decoded */
};

/* Finds the parts of the functions with these names (NULL-terminated). Returns 0, -ENOENT if the file defines
 * none of them, or -errno. */
int fragments_find(struct elf *e, const char *const *names, struct fragments *ret);
/* Finds the parts only by the methods in want (TABLE_BY_*): for tests. */
int fragments_find_by(struct elf *e, const char *const *names, unsigned want, struct fragments *ret);

/* Finds the loop for a language's table() and sets flags, nranges and range[] in its header. */
int fragments_load(struct elf *e, const char *const *names, struct table_header *hdr);
