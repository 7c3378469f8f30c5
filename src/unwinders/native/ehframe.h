// SPDX-License-Identifier: Apache-2.0
/* ehframe.h - call frame information, as a list of rules by address. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bpf/walk/unwind.h"

struct elf;

struct eh_row {
	uint64_t vaddr; /* the rule is valid from here to the next row */
	uint64_t rule;  /* see RULE(); 0: none */
};

struct eh_rows {
	struct eh_row *data;
	size_t len, cap;
};

/* Reads .eh_frame, else .debug_frame, and adds code that linkers leave out (PLT, entry point, signal
 * trampolines). Rows ascend, neighbours differ, and the last has no rule; a file without information has no
 * rows. Returns 0 on success, -errno on failure. */
int ehframe_read(struct elf *e, struct eh_rows *ret);
struct eh_range { /* half open */
	uint64_t start, end;
};

struct eh_ranges {
	struct eh_range *data;
	size_t len, cap;
};

/* Reads the ranges of code that FDEs cover, ascending. Returns 0 on success, -errno on failure. */
int ehframe_ranges(struct elf *e, struct eh_ranges *ret);
/* Replaces the rows of the code from with's first row to its last, which has no rule. Both ascend. */
void eh_rows_replace(struct eh_rows *rows, const struct eh_rows *with);
/* Sets the rule from start to end where there is none. */
void eh_rows_fill(struct eh_rows *rows, uint64_t start, uint64_t end, uint64_t rule);
static inline void eh_ranges_done(struct eh_ranges *r) { free(r->data); }
static inline void eh_rows_done(struct eh_rows *r) { free(r->data); }
