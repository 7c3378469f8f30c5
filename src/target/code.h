// SPDX-License-Identifier: Apache-2.0
/* code.h - machine code of x86_64 and arm64, one instruction at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

enum code_flow { /* where it goes on */
	CODE_NEXT,          /* behind itself */
	CODE_JUMP,          /* at its target */
	CODE_BRANCH,        /* at its target or behind itself */
	CODE_CALL,          /* at its target, and then behind itself */
	CODE_JUMP_INDIRECT, /* where a register or memory says */
	CODE_CALL_INDIRECT,
	CODE_RETURN,
	CODE_STOP,          /* nowhere: ud2, hlt, brk, udf */
};

enum code_operand_kind { CODE_REG, CODE_IMM, CODE_MEM };

/* Registers by the number that instructions give them: rax 0, rcx 1, rdx 2, rbx 3,
 * rsp 4, rbp 5, rsi 6, rdi 7, r8.. 8..; x0.. 0.., sp 31. */
#define CODE_REG_PC    64
#define CODE_REG_NONE  65
#define CODE_REG_OTHER 66 /* vectors, xzr, .. */

struct code_operand {
	enum code_operand_kind kind;
	uint8_t size;     /* of a register or what is accessed, in bytes; 0: not told */
	uint8_t reg;      /* REG; MEM: the base */
	uint8_t index;    /* MEM */
	uint8_t scale;    /* MEM: of the index */
	bool thread;      /* MEM: counted from the thread pointer (%fs) */
	int64_t value;    /* IMM; MEM: the displacement */
};

struct code_insn {
	uint64_t vaddr;
	uint8_t size;
	enum code_flow flow;
	uint64_t target;      /* of what has one; else 0 */
	const char *mnemonic; /* until the next is decoded */
	/* Of a decoder with operands only; at most so many, in the order of Intel's and
	 * Arm's text: what is computed comes first. */
	unsigned noperands;
	struct code_operand operand[4];
};

/* EM_X86_64 or EM_AARCH64; operands: tells them too, at half the speed. 0 or -errno:
 * -ENOTSUP: another machine, or the library is not there. */
int code_open(uint16_t machine, bool operands, struct code **ret);
void code_close(struct code *c);
static inline void code_closep(struct code **c) { code_close(*c); }

/* The instruction at the front of size bytes; vaddr is theirs. False: none that is
 * known; code_skip() bytes further there may be one. */
bool code_decode(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
	struct code_insn *ret);
/* What an instruction is a multiple of: 1, arm64: 4. */
size_t code_skip(const struct code *c);

/* What is told of an instruction that neither computes rsp or rbp nor is push, pop or the like. */
struct code_plain {
	uint8_t size;
	bool mov;            /* it is called so: a register or memory becomes another, or a number */
	enum code_flow flow;
	int64_t jump;        /* of what has a target: that, from the instruction's start */
};

/* x86_64's instruction at the front of size bytes, where it is plain and frequent; false:
 * code_decode() may know it. Needs no library, and is some twenty times as fast. */
bool code_plain_x86(const uint8_t *bytes, size_t size, struct code_plain *ret);
