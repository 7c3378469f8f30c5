// SPDX-License-Identifier: Apache-2.0
/* cfi.h - one CIE, one FDE: the programs in call frame information. */
#pragma once
#include <stdbool.h>

#include "ehframe.h"

/* Bytes of a file with their addresses in memory. Reading past the end sets bad and returns zeros. */
struct reader {
	const uint8_t *p, *end;
	uint64_t vaddr; /* address of p */
	bool bad;
};

uint64_t read_uint(struct reader *r, size_t size);
uint64_t read_uleb(struct reader *r);
/* Reads a pointer by its DW_EH_PE_* encoding. data: base of datarel. */
uint64_t read_encoded(struct reader *r, uint8_t encoding, uint64_t data);
void read_skip(struct reader *r, uint64_t n);

struct cie {
	uint64_t at; /* vaddr, or offset in .debug_frame; the cache's key */
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra; /* the column of the return address */
	uint8_t pointers;
	bool augmented, signal;
	struct reader program;
};

struct fde {
	uint64_t start, end;
	struct reader program;
};

/* r: after the CIE's id. */
bool cie_parse(struct reader r, uint64_t at, struct cie *ret);
/* r: after the FDE's CIE pointer. */
bool fde_parse(struct reader r, const struct cie *c, uint64_t data, struct fde *ret);
struct cfi_want {
	uint16_t machine;
	bool rbx; /* rules that follow rbx, too: RULE_RBX */
};
/* Adds the FDE's rows below end; a row equal to the last is not added. */
void fde_rows(const struct cie *c, const struct fde *f, uint64_t end,
	const struct cfi_want *want, struct eh_rows *rows);
void eh_row_add(struct eh_rows *rows, uint64_t vaddr, uint64_t rule);
