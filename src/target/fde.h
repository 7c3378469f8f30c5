// SPDX-License-Identifier: Apache-2.0
/* fde.h - call frame information in a file: CIEs and FDEs, which say where functions begin and end, and programs
 * whose rows the unwinders make. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf.h"

/* Bytes of a file with their addresses in memory. Reading past the end sets bad and returns zeros. */
struct reader {
	const uint8_t *p, *end;
	uint64_t vaddr; /* address of p */
	bool bad;
};

uint64_t read_uint(struct reader *r, size_t size);
uint64_t read_uleb(struct reader *r);
int64_t read_sleb(struct reader *r);
/* Returns a block of n bytes, and skips it. */
struct reader read_block(struct reader *r, uint64_t n);
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

#define FDE_CIES 64 /* remembered at a time */

/* A section with entries. Zeroed but for elf, which the caller owns. */
struct fde_section {
	struct elf *elf;
	bool debug_frame;
	struct elf_section section; /* from here to the end of the readable bytes */
	uint64_t data;              /* base of datarel pointers */
	struct cie cies[FDE_CIES];
};

/* Finds the entry at an offset: its body after the length, and its id with the id's own offset. Returns false at the
 * end. */
bool fde_entry_at(const struct fde_section *f, uint64_t offset, struct reader *ret_body,
	uint64_t *ret_id, uint64_t *ret_id_at);
bool fde_is_cie(const struct fde_section *f, uint64_t id);
/* Reads the FDE at an offset. Returns its CIE, which the section owns until it reads others; NULL: not an FDE. */
const struct cie *fde_at(struct fde_section *f, uint64_t offset, struct fde *ret);

/* The binary search table: pairs of function and FDE. */
struct fde_table {
	struct reader pairs;
	uint8_t encoding;
	uint64_t n, start; /* start: vaddr of the section's first byte */
};

#define FDE_TABLE_MAX (1u << 24)

/* Reads the head of .eh_frame_hdr, and sets the section that it names. Returns false if the table is not usable. */
bool fde_find_table(struct fde_section *f, const struct elf_section *hdr, struct fde_table *ret);
/* Finds the FDE that covers the code at vaddr, by the file's search table. Returns 1 and the start of its code, 0 if
 * no FDE covers it, or -ENOTSUP if the file has no table that can be searched. */
int fde_find_function(struct elf *e, uint64_t vaddr, uint64_t *ret_start);
