// SPDX-License-Identifier: Apache-2.0
/* cfi.h - one CIE, one FDE: the programs in call frame information. */
#pragma once
#include <stdbool.h>

#include "ehframe.h"
#include "target/fde.h"

struct cfi_want {
	uint16_t machine;
	bool rbx; /* rules that follow rbx, too: RULE_RBX */
};
/* Adds the FDE's rows below end; a row equal to the last is not added. */
void fde_rows(const struct cie *c, const struct fde *f, uint64_t end,
	const struct cfi_want *want, struct eh_rows *rows);
void eh_row_add(struct eh_rows *rows, uint64_t vaddr, uint64_t rule);
