// SPDX-License-Identifier: Apache-2.0
/* ehframe.h - call frame information, as a list of rules by address. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bpf/walk/unwind.h"

struct elf;

struct eh_row {
	uint64_t vaddr; /* from here to the next row */
	uint64_t rule;  /* see RULE(); 0: none */
};

struct eh_rows {
	struct eh_row *data;
	size_t len, cap;
};

/* Of .eh_frame, else .debug_frame; what linkers leave out (PLT, entry point, signal
 * trampolines) is added. Ascending, neighbours differ, the last has no rule; empty
 * when the file says nothing. 0 or -errno. */
int ehframe_read(struct elf *e, struct eh_rows *ret);
struct eh_range { /* half open */
	uint64_t start, end;
};

struct eh_ranges {
	struct eh_range *data;
	size_t len, cap;
};

/* The code that each FDE is of, ascending by where it starts. As above. */
int ehframe_ranges(struct elf *e, struct eh_ranges *ret);
/* Whether an FDE is of the code at vaddr, by the file's search table: 1 and where that begins, 0, or -ENOTSUP:
 * it has no table that can be searched. */
int ehframe_function(struct elf *e, uint64_t vaddr, uint64_t *ret_start);
/* Those rows in place of what is said of the code from their first to their last, which
 * has no rule. Both ascend. */
void eh_rows_replace(struct eh_rows *rows, const struct eh_rows *with);
/* That rule where there is none from start to end. */
void eh_rows_fill(struct eh_rows *rows, uint64_t start, uint64_t end, uint64_t rule);
static inline void eh_ranges_done(struct eh_ranges *r) { free(r->data); }
static inline void eh_rows_done(struct eh_rows *r) { free(r->data); }
