// SPDX-License-Identifier: Apache-2.0
/* unframed_state.h - where the CFA is before an instruction: shared by unframed.c and unframed_x86.c. Distances are in
 * bytes below the CFA, or below a place that is only known to be somewhere below it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "target/code.h"

enum { RAX = 0, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

enum frame_kind {
	FRAME_LOST,  /* nothing is known; zero */
	FRAME_BY_SP, /* sp = CFA - depth */
	FRAME_MOVED, /* sp = somewhere - depth, after an alignment: the CFA is found otherwise */
	FRAME_FIRST, /* a thread begins here: the code has no caller */
};

struct frame_state {
	uint8_t kind;
	uint8_t reg;        /* a register with CFA - reg_depth; RSP: none */
	bool fp_is_base;    /* rbp = CFA - fp_depth */
	bool fp_is_moved;   /* MOVED: rbp = somewhere - fp_depth */
	bool fp_is_zero;
	bool fp_is_other;   /* rbp was set without having been saved: the caller does not need it */
	bool has_slot;      /* MOVED: the word at somewhere - slot has CFA - slot_depth */
	int32_t depth, reg_depth, fp_depth;
	int32_t fp_slot;    /* the caller's rbp is at CFA - fp_slot; 0: it is in rbp */
	int32_t slot, slot_depth;
};

/* What an instruction does. */
struct frame_step {
	uint8_t size;        /* 0: the instruction is not known */
	enum code_flow flow;
	uint64_t target;     /* of a direct jump or branch */
};

/* Follows the instruction at the start of size bytes, which lie at vaddr. c decodes operands. Counts slow decoding in
 * *slow. */
struct frame_step unframed_step(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
	struct frame_state *s, uint32_t *slow);
/* Returns the rule of a state, or 0 if there is none. */
uint64_t unframed_rule(const struct frame_state *s);
