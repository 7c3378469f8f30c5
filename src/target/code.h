// SPDX-License-Identifier: Apache-2.0
/* code.h - machine code of x86_64 and arm64, one instruction at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

enum { CODE_LONGEST = 15 }; /* bytes of the longest instruction */

enum code_flow { /* the instruction that runs next */
	CODE_NEXT,          /* the next instruction */
	CODE_JUMP,          /* the target */
	CODE_BRANCH,        /* the target or the next instruction */
	CODE_CALL,          /* the target, later the next instruction */
	CODE_JUMP_INDIRECT, /* the one at an address in a register or in memory */
	CODE_CALL_INDIRECT,
	CODE_RETURN,
	CODE_STOP,          /* none: ud2, hlt, brk, udf */
};

enum code_operand_kind { CODE_REG, CODE_IMM, CODE_MEM };

/* Registers by their numbers in instructions: rax 0, rcx 1, rdx 2, rbx 3,
 * rsp 4, rbp 5, rsi 6, rdi 7, r8.. 8..; x0.. 0.., sp 31. */
#define CODE_REG_PC    64
#define CODE_REG_NONE  65
#define CODE_REG_OTHER 66 /* vectors, xzr, .. */

struct code_operand {
	enum code_operand_kind kind;
	uint8_t size;     /* of the register or the access, in bytes; 0 if unknown */
	uint8_t reg;      /* REG; MEM: the base register */
	uint8_t index;    /* MEM: the index register */
	uint8_t scale;    /* MEM: the factor of the index */
	bool thread;      /* MEM: relative to the thread pointer (%fs) */
	int64_t value;    /* IMM; MEM: the displacement */
};

struct code_insn {
	uint64_t vaddr;
	uint8_t size;
	enum code_flow flow;
	uint64_t target;      /* of a jump or call with a known target, else 0 */
	const char *mnemonic; /* valid until the next instruction is decoded */
	/* Only set if code_open() was called with operands. The order is that of Intel's and Arm's manuals:
	 * the destination comes first. */
	unsigned noperands;
	struct code_operand operand[4];
};

/* machine is EM_X86_64 or EM_AARCH64. operands: decode operands, too, which halves the speed. Returns 0 on
 * success, -ENOTSUP for another machine or if the library is not installed, another -errno on other
 * failures. */
int code_open(uint16_t machine, bool operands, struct code **ret);
void code_close(struct code *c);
static inline void code_closep(struct code **c) { code_close(*c); }

/* Decodes the instruction at the start of size bytes, which lie at vaddr. Returns false if it is unknown;
 * the next instruction may begin code_skip() bytes further. */
bool code_decode(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
	struct code_insn *ret);
/* Returns the number of bytes of which each instruction is a multiple: 1, on arm64 4. */
size_t code_skip(const struct code *c);

/* An instruction that does not change rsp or rbp and is not push, pop or similar. */
struct code_fast {
	uint8_t size;
	bool mov;            /* a mov from a register, memory or a number */
	enum code_flow flow;
	int64_t jump;        /* target relative to the instruction's start, if there is one */
};

/* Decodes the x86_64 instruction at the start of size bytes, if it is a frequent and simple one. Returns
 * false if the caller must use code_decode(). Needs no library, and is about twenty times as fast. */
bool code_x86_fast(const uint8_t *bytes, size_t size, struct code_fast *ret);
