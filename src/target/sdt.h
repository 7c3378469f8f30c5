// SPDX-License-Identifier: Apache-2.0
/* sdt.h - probes that a program's author put into it (USDT): the notes that the macros of systemtap's
 * <sys/sdt.h> leave in a file, and the texts in them that say where arguments are. Both are untrusted.
 *
 * Layout: systemtap's "UserSpaceProbeImplementation", version 3 (includes/sys/sdt.h of 4.8): an ELF note
 * of owner "stapsdt" and type 3 in .note.stapsdt, whose description is
 *     u64 location, u64 address of .stapsdt.base, u64 semaphore
 *     "provider\0name\0arguments\0"
 * Addresses are those of the time when the file was linked: what moved it later (prelink, objcopy) has
 * moved .stapsdt.base, too, and not the notes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

struct sdt_note {
	const char *provider, *name, *args; /* in the file */
	uint64_t vaddr;     /* of the instruction, a nop */
	uint64_t semaphore; /* vaddr of a u16: how many trace the probe; 0: it has none */
};

/* The notes of a file, in its order; the elf must outlive it. */
struct sdt_notes {
	const uint8_t *at;
	size_t left;      /* bytes */
	uint64_t base;    /* where .stapsdt.base is now; 0: nowhere */
};
/* False: the file has no such notes. */
bool sdt_open(const struct elf *e, struct sdt_notes *ret);
/* The next one; false: there is none, or the rest is damaged. */
bool sdt_next(struct sdt_notes *n, struct sdt_note *ret);

/* ---- arguments ---- */

enum sdt_where {
	SDT_CONSTANT, /* disp */
	SDT_REGISTER, /* reg, its bits from shift on */
	SDT_MEMORY,   /* at reg + index * scale + disp; scale 0: without an index */
	SDT_SYMBOL,   /* in memory, at the symbol's address + disp */
	SDT_ADDRESS,  /* the symbol's address + disp itself */
	SDT_NOWHERE,  /* it cannot be read; why says it */
};

/* Registers have the numbers that DWARF gives them (System V ABI AMD64 1.0, figure 3.36; AADWARF64
 * 2023Q3, 4.1), of which those below are named here. */
enum { SDT_X86_RIP = 16, SDT_ARM64_SP = 31, SDT_ARM64_PC = 32 };

struct sdt_arg {
	enum sdt_where where;
	uint8_t size;     /* bytes: 1, 2, 4 or 8 */
	bool is_signed;
	bool is_float;    /* then it is NOWHERE */
	uint8_t reg, index, scale, shift;
	int64_t disp;
	const char *symbol; /* in the text, of symbol_len bytes */
	size_t symbol_len;
	const char *why;
};

enum { SDT_ARGS_MAX = 12 }; /* what the macros can pass */

/* "-4@%eax 8@8(%rsp)": the arguments as the assembler of a machine (EM_X86_64, EM_AARCH64) writes them;
 * the count, of at most SDT_ARGS_MAX. What cannot be understood is SDT_NOWHERE. */
unsigned sdt_args(const char *text, uint16_t machine, struct sdt_arg ret[SDT_ARGS_MAX]);
