// SPDX-License-Identifier: Apache-2.0
/* ehframe.h - call frame information, as a list of rules by address. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../../bpf/unwind.h"

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
static inline void eh_rows_done(struct eh_rows *r) { free(r->data); }
