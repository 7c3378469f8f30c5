// SPDX-License-Identifier: Apache-2.0
/* fragments.h - where the code of an interpreter's loop is, all of it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct elf;

struct fragment { /* half open */
	uint64_t start, end;
};

struct fragments {
	struct fragment fragment[TABLE_RANGES]; /* ascending, apart from one another */
	unsigned n;
	unsigned found;      /* enum table_flags: TABLE_BY_*, how others than the main were */
	bool decoded;        /* there is a disassembler for this machine */
	unsigned dispatches; /* indirect jumps in them; 0 when not decoded */
};

/* Of the functions of these names (NULL-terminated) that the file defines. 0, -ENOENT:
 * it defines none of them, or -errno. */
int fragments_find(struct elf *e, const char *const *names, struct fragments *ret);
/* Those of another way of looking are left out of want (TABLE_BY_*): for tests. */
int fragments_find_by(struct elf *e, const char *const *names, unsigned want, struct fragments *ret);

/* The same for unwinder_row.h's load(): sets flags, nranges, range[]. */
int fragments_load(struct elf *e, const char *const *names, struct table_header *hdr);
