// SPDX-License-Identifier: Apache-2.0
/* fold.c - see fold.h. Instructions: RFC 9669. What is not handled here leaves nothing known. */
#include "fold.h"

#include <string.h>

static void set(struct registers *r, unsigned reg, enum known known, uint64_t number)
{
	if (reg >= FOLD_REGS)
		return;
	r->known[reg] = known;
	r->number[reg] = number;
}

static enum known known_of(const struct registers *r, unsigned reg)
{
	return reg < FOLD_REGS ? r->known[reg] : KNOWN_NOTHING;
}

/* Returns false if the second operand is not known as a number. */
static bool operand(const struct registers *r, const struct bpf_insn *insn, uint64_t *ret)
{
	if (BPF_SRC(insn->code) == BPF_K) {
		*ret = (uint64_t)(int64_t)insn->imm;
		return true;
	}
	*ret = insn->src_reg < FOLD_REGS ? r->number[insn->src_reg] : 0;
	return known_of(r, insn->src_reg) == KNOWN_NUMBER;
}

static bool compute(uint8_t op, unsigned bits, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (op) {
	case BPF_ADD: *ret = a + b; break;
	case BPF_SUB: *ret = a - b; break;
	case BPF_MUL: *ret = a * b; break;
	case BPF_OR: *ret = a | b; break;
	case BPF_AND: *ret = a & b; break;
	case BPF_XOR: *ret = a ^ b; break;
	case BPF_LSH: *ret = a << (b & (bits - 1)); break;
	case BPF_RSH: *ret = (bits == 32 ? (uint32_t)a : a) >> (b & (bits - 1)); break;
	case BPF_MOV: *ret = b; break;
	default: return false;
	}
	if (bits == 32)
		*ret = (uint32_t)*ret;
	return true;
}

static void step_alu(struct registers *r, const struct bpf_insn *insn)
{
	unsigned bits = BPF_CLASS(insn->code) == BPF_ALU64 ? 64 : 32, dst = insn->dst_reg;
	uint8_t op = BPF_OP(insn->code);
	enum known was = known_of(r, dst);
	uint64_t b, n = 0;
	bool has_b = operand(r, insn, &b), is_plain = !insn->off; /* else a move with a sign */

	if (op == BPF_MOV && is_plain && bits == 64 && BPF_SRC(insn->code) == BPF_X) {
		set(r, dst, known_of(r, insn->src_reg), b);
		return;
	}
	if (op == BPF_AND && has_b && !(bits == 32 ? (uint32_t)b : b))
		set(r, dst, KNOWN_NUMBER, 0);
	else if (is_plain && has_b && (was == KNOWN_NUMBER || op == BPF_MOV) && dst < FOLD_REGS &&
		compute(op, bits, r->number[dst], b, &n))
		set(r, dst, KNOWN_NUMBER, n);
	else if (was == KNOWN_PLACE && has_b && bits == 64 && op == BPF_ADD)
		set(r, dst, KNOWN_PLACE, r->number[dst] + b);
	else
		set(r, dst, KNOWN_NOTHING, 0);
}

static void step_load(struct registers *r, const struct bpf_insn *insn, const struct constants *c)
{
	static const uint8_t sizes[] = {[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};
	size_t size = sizes[BPF_SIZE(insn->code) >> 3];
	bool is_place = BPF_MODE(insn->code) == BPF_MEM && known_of(r, insn->src_reg) == KNOWN_PLACE;
	uint64_t at = is_place ? r->number[insn->src_reg] + (uint64_t)(int64_t)insn->off : 0;
	uint8_t b[8];
	uint64_t n = 0;

	if (!is_place || at > c->size || c->size - at < size) {
		set(r, insn->dst_reg, KNOWN_NOTHING, 0);
		return;
	}
	memcpy(b, c->at + at, size);
	for (size_t i = size; i-- > 0;) /* this machine and the kernel are little-endian: so is the object */
		n = n << 8 | b[i];
	set(r, insn->dst_reg, KNOWN_NUMBER, n);
}

static void forget(struct registers *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		set(r, i, KNOWN_NOTHING, 0);
}

void fold_step(struct registers *r, const struct bpf_insn *insn, const struct constants *c)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		step_alu(r, insn);
		break;
	case BPF_LDX:
		step_load(r, insn, c);
		break;
	case BPF_LD: /* packets, which a call would read */
		forget(r, 6);
		break;
	case BPF_STX:
		if (BPF_MODE(insn->code) != BPF_MEM) { /* atomic, may fetch */
			set(r, insn->src_reg, KNOWN_NOTHING, 0);
			set(r, insn->dst_reg, KNOWN_NOTHING, 0);
			set(r, BPF_REG_0, KNOWN_NOTHING, 0);
		}
		break;
	case BPF_JMP:
		if (BPF_OP(insn->code) == BPF_CALL)
			forget(r, 6);
		break;
	}
}

static bool holds(uint8_t op, uint64_t a, uint64_t b, int64_t sa, int64_t sb, bool *ret_known)
{
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JNE: return a != b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JLT: return a < b;
	case BPF_JLE: return a <= b;
	case BPF_JSET: return a & b;
	case BPF_JSGT: return sa > sb;
	case BPF_JSGE: return sa >= sb;
	case BPF_JSLT: return sa < sb;
	case BPF_JSLE: return sa <= sb;
	}
	*ret_known = false;
	return false;
}

enum way fold_way(const struct registers *r, const struct bpf_insn *insn)
{
	uint64_t a = insn->dst_reg < FOLD_REGS ? r->number[insn->dst_reg] : 0, b;
	bool known = operand(r, insn, &b) && known_of(r, insn->dst_reg) == KNOWN_NUMBER, jumps;

	if (BPF_CLASS(insn->code) == BPF_JMP32)
		jumps = holds(BPF_OP(insn->code), (uint32_t)a, (uint32_t)b, (int32_t)a, (int32_t)b, &known);
	else
		jumps = holds(BPF_OP(insn->code), a, b, (int64_t)a, (int64_t)b, &known);
	return !known ? WAY_BOTH : jumps ? WAY_JUMP : WAY_NEXT;
}

bool fold_merge(struct registers *r, const struct registers *other)
{
	bool changes = false;

	for (unsigned i = 0; i < FOLD_REGS; i++) {
		if (!r->known[i] || (r->known[i] == other->known[i] && r->number[i] == other->number[i]))
			continue;
		set(r, i, KNOWN_NOTHING, 0);
		changes = true;
	}
	return changes;
}
