/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - computes the values of registers in a BPF program, as far as they depend on the constants in .rodata. */
#pragma once
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOLD_REGS = 11 };

enum known {
	KNOWN_NOTHING,
	KNOWN_NUMBER,
	KNOWN_PLACE, /* a pointer to the constants; the number is its offset */
};

struct registers {
	uint64_t number[FOLD_REGS];
	uint8_t known[FOLD_REGS]; /* enum known */
};

struct constants {
	const char *at;
	size_t size;
};

/* Where a conditional jump goes. */
enum way { WAY_BOTH, WAY_JUMP, WAY_NEXT };

/* Changes r as the instruction does; not for the instructions of two slots. */
void fold_step(struct registers *r, const struct bpf_insn *insn, const struct constants *c);
/* insn: a conditional jump. */
enum way fold_way(const struct registers *r, const struct bpf_insn *insn);
/* Leaves in r what both know. Returns whether this changes r. */
bool fold_merge(struct registers *r, const struct registers *other);
