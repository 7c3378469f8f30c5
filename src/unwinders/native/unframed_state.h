// SPDX-License-Identifier: Apache-2.0
/* unframed_state.h - where the CFA is before an instruction: shared by unframed.c, unframed_x86.c and
 * unframed_arm64.c. Distances are in bytes below the CFA, or below a place that is only known to be somewhere below
 * it. fp is rbp or x29. */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "target/code.h"

enum { RAX = 0, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define FRAME_NO_REG RSP /* struct frame_state's reg: none. x4 is not followed. */

enum frame_kind {
	FRAME_LOST,  /* nothing is known; zero */
	FRAME_BY_SP, /* sp = CFA - depth */
	FRAME_MOVED, /* sp = somewhere - depth, after an alignment: the CFA is found otherwise */
	FRAME_FIRST, /* a thread begins here: the code has no caller */
};

struct frame_state {
	uint8_t kind;
	uint8_t reg;        /* a register with CFA - reg_depth; FRAME_NO_REG: none */
	bool fp_is_base;    /* fp = CFA - fp_depth */
	bool fp_is_moved;   /* MOVED: fp = somewhere - fp_depth */
	bool fp_is_zero;
	bool fp_is_other;   /* fp was set without having been saved: the caller does not need it */
	bool ra_is_lost;    /* arm64: x30 has another value, and RA has no slot */
	bool has_slot;      /* MOVED: the word at somewhere - slot has CFA - slot_depth */
	int32_t depth, reg_depth, fp_depth;
	int32_t fp_slot;    /* the caller's fp is at CFA - fp_slot; 0: it is in fp */
	int32_t ra_slot;    /* arm64: RA is at CFA - ra_slot; 0: it is in x30 */
	int32_t slot, slot_depth;
};

/* What an instruction does. */
struct frame_step {
	uint8_t size;        /* 0: the instruction is not known */
	enum code_flow flow;
	uint64_t target;     /* of a direct jump or branch */
};

struct unframed_machine {
	uint8_t unit;             /* each instruction has a multiple of so many bytes */
	struct frame_state entry; /* at the start of a function */
	uint32_t relative;        /* the type of relocations of addresses */
	/* Follows the instruction at the start of size bytes, which lie at vaddr. c decodes operands; NULL on arm64.
	 * Counts slow decoding in *slow. */
	struct frame_step (*step)(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
		struct frame_state *s, uint32_t *slow);
	/* Returns the rule of a state, or 0 if there is none. */
	uint64_t (*rule)(const struct frame_state *s);
	/* Returns the bytes of padding between functions at the start. */
	size_t (*padding)(const uint8_t *p, size_t size);
	/* Returns whether the instruction before this place, which has at least `unit` bytes, may be the last one
	 * of a function. */
	bool (*may_end)(const uint8_t *code);
	/* Returns whether only the start of a function has this instruction. NULL: no instruction is that clear. */
	bool (*begins)(const uint8_t *code, size_t size);
	/* Returns whether a function may return in this state. */
	bool (*is_returning)(const struct frame_state *s);
};

extern const struct unframed_machine unframed_x86, unframed_arm64;
