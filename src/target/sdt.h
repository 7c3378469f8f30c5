// SPDX-License-Identifier: Apache-2.0
/* sdt.h - probes that a program's author put into it (USDT): the notes that the macros of systemtap's
 * <sys/sdt.h> leave in a file, and the texts in them with the locations of arguments. Both are untrusted.
 *
 * Layout: systemtap's "UserSpaceProbeImplementation", version 3 (includes/sys/sdt.h of 4.8): an ELF note
 * of owner "stapsdt" and type 3 in .note.stapsdt, whose description is
 *     u64 location, u64 address of .stapsdt.base, u64 semaphore
 *     "provider\0name\0arguments\0"
 * Addresses are those of the time when the file was linked. Tools that move code later (prelink, objcopy)
 * move .stapsdt.base, too, but do not change the notes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

struct sdt_note {
	const char *provider, *name, *args; /* point into the file */
	uint64_t vaddr;     /* address of the instruction, a nop */
	uint64_t semaphore; /* vaddr of a u16 that counts the tracers of the probe; 0 if there is none */
};

/* An iterator over the notes of a file, in the order of the file. The elf must outlive it. */
struct sdt_notes {
	const uint8_t *at;
	size_t left;      /* remaining bytes */
	uint64_t base;    /* current address of .stapsdt.base; 0 if there is none */
};
/* Returns false if the file has no such notes. */
bool sdt_open(const struct elf *e, struct sdt_notes *ret);
/* Reads the next note. Returns false at the end, or if the rest is damaged. */
bool sdt_next(struct sdt_notes *n, struct sdt_note *ret);

/* ---- arguments ---- */

enum sdt_where {
	SDT_CONSTANT, /* the value is disp */
	SDT_REGISTER, /* the bits of reg from shift on */
	SDT_MEMORY,   /* in memory, at reg + index * scale + disp; scale is 0 without an index */
	SDT_SYMBOL,   /* in memory, at the symbol's address + disp */
	SDT_ADDRESS,  /* the symbol's address + disp */
	SDT_NOWHERE,  /* not readable, for the reason in why */
};

/* Registers have the numbers of DWARF (System V ABI AMD64 1.0, figure 3.36; AADWARF64 2023Q3, 4.1). Only
 * these are named here. */
enum { SDT_X86_RIP = 16, SDT_ARM64_SP = 31, SDT_ARM64_PC = 32 };

struct sdt_arg {
	enum sdt_where where;
	uint8_t size;     /* 1, 2, 4 or 8 bytes */
	bool is_signed;
	bool is_float;    /* a floating-point argument, which is NOWHERE */
	uint8_t reg, index, scale, shift;
	int64_t disp;
	const char *symbol; /* points into the text, symbol_len bytes */
	size_t symbol_len;
	const char *why;
};

enum { SDT_ARGS_MAX = 12 }; /* the most arguments that the macros can pass */

/* Reads "-4@%eax 8@8(%rsp)": arguments in the syntax of a machine's assembler (EM_X86_64, EM_AARCH64).
 * Returns their number, at most SDT_ARGS_MAX. An argument that cannot be understood is SDT_NOWHERE. */
unsigned sdt_args(const char *text, uint16_t machine, struct sdt_arg ret[SDT_ARGS_MAX]);
