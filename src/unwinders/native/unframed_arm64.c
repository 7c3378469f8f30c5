// SPDX-License-Identifier: Apache-2.0
/* unframed_arm64.c - follows sp, x29, x30 and their saved values through the instructions of a function. Encodings: Arm
 * Architecture Reference Manual, C4.1. */
#include <string.h>

#include "bpf/lib/insn.h"
#include "bpf/walk/unwind.h"
#include "unframed_state.h"

#define DEPTH_MAX (1 << 20)

enum { FP = 29, LR = 30, SP = 31 };

#define A64_NOP 0xd503201fU

/* Bits from low to high of an instruction. */
static uint32_t bits(uint32_t op, unsigned high, unsigned low)
{
	return op >> low & ((1u << (high - low + 1)) - 1);
}

static int32_t sbits(uint32_t op, unsigned high, unsigned low)
{
	return (int32_t)(op << (31 - high)) >> (31 - high + low);
}

static void lose(struct frame_state *s)
{
	*s = (struct frame_state){.reg = FRAME_NO_REG};
}

static void set_depth(struct frame_state *s, int64_t depth)
{
	if ((s->kind == FRAME_BY_SP && depth < 0) || depth < -DEPTH_MAX || depth > DEPTH_MAX)
		lose(s);
	else
		s->depth = (int32_t)depth;
}

static void sp_by(struct frame_state *s, int64_t depth)
{
	s->kind = FRAME_BY_SP;
	set_depth(s, depth);
}

/* sp has an unknown distance from the CFA now. */
static void move_sp(struct frame_state *s)
{
	if (s->kind == FRAME_FIRST)
		return;
	if (!s->fp_is_base)
		lose(s);
	else
		s->kind = FRAME_MOVED;
}

static bool has_callers_fp(const struct frame_state *s)
{
	return !s->fp_is_base && !s->fp_is_other && !s->fp_slot;
}

/* x29 gets another value. Functions save it first. */
static void set_fp(struct frame_state *s, bool is_callers)
{
	if (s->kind == FRAME_MOVED) { /* the CFA is known by x29 only */
		lose(s);
		return;
	}
	s->fp_is_base = false;
	if (is_callers)
		s->fp_slot = 0;
	else if (!s->fp_slot)
		s->fp_is_other = true;
}

static void set_reg(struct frame_state *s, unsigned reg)
{
	if (reg == FP)
		set_fp(s, false);
	if (reg == LR && !s->ra_slot)
		s->ra_is_lost = true;
	if (reg == s->reg)
		s->reg = FRAME_NO_REG;
}

/* ---- loads and stores ---------------------------------------------------------------- */

struct access { /* of one or two registers */
	unsigned base, reg, second; /* second SP: only one */
	int32_t offset;             /* of the first one from the base */
	int32_t back;               /* what is added to the base */
	bool is_load, is_word64;    /* general registers of 64 bits */
	bool is_vector;
};

/* Sets where a slot is, in bytes below the CFA. */
static bool find_slot(const struct frame_state *s, const struct access *a, int32_t *ret)
{
	if (a->base == SP && s->kind == FRAME_BY_SP)
		*ret = s->depth - a->offset;
	else if (a->base == FP && s->fp_is_base)
		*ret = s->fp_depth - a->offset;
	else
		return false;
	return true;
}

static void save(struct frame_state *s, unsigned reg, int32_t slot)
{
	if (slot <= 0)
		return;
	if (reg == FP && has_callers_fp(s))
		s->fp_slot = slot;
	if (reg == LR && !s->ra_slot && !s->ra_is_lost)
		s->ra_slot = slot;
}

static void load(struct frame_state *s, unsigned reg, bool has_slot, int32_t slot)
{
	if (reg == FP && has_slot && slot == s->fp_slot) {
		set_fp(s, true);
	} else if (reg == LR && has_slot && slot == s->ra_slot) {
		s->ra_slot = 0;
		s->ra_is_lost = false;
	} else {
		set_reg(s, reg);
	}
}

static void access_registers(struct frame_state *s, const struct access *a)
{
	int32_t slot = 0;
	bool has_slot = find_slot(s, a, &slot) && a->is_word64;

	if (a->is_vector)
		return;
	if (a->is_load) { /* the last one first: with x29, its slot is no longer found */
		if (a->second != SP)
			load(s, a->second, has_slot, slot - 8);
		if (a->reg != SP)
			load(s, a->reg, has_slot, slot);
	} else if (has_slot) {
		save(s, a->reg, slot);
		if (a->second != SP)
			save(s, a->second, slot - 8);
	}
}

static void follow_access(struct frame_state *s, const struct access *a)
{
	access_registers(s, a);
	if (!a->back)
		return;
	if (a->base == SP)
		set_depth(s, (int64_t)s->depth - a->back);
	else
		set_reg(s, a->base);
}

/* Load and store of two registers: opc, 101, V, mode, L, imm7, Rt2, Rn, Rt. */
static void pair(struct frame_state *s, uint32_t op)
{
	unsigned opc = bits(op, 31, 30), mode = bits(op, 24, 23);
	int32_t scale = bits(op, 26, 26) ? 4 << opc : opc == 2 ? 8 : opc == 1 && !bits(op, 22, 22) ? 16 : 4;
	int32_t offset = sbits(op, 21, 15) * scale;

	follow_access(s, &(struct access){.base = bits(op, 9, 5), .reg = bits(op, 4, 0), .second = bits(op, 14, 10),
		.offset = mode == 1 ? 0 : offset, .back = mode & 1 ? offset : 0, .is_load = bits(op, 22, 22),
		.is_word64 = opc == 2, .is_vector = bits(op, 26, 26)});
}

/* Load and store of a register: size, 111, V, 01, opc, imm12, Rn, Rt; or size, 111, V, 00, opc, 0, imm9, mode, Rn,
 * Rt. */
static void single(struct frame_state *s, uint32_t op)
{
	unsigned size = bits(op, 31, 30), mode = bits(op, 11, 10), opc = bits(op, 23, 22);
	bool is_scaled = bits(op, 25, 24) == 1, has_offset = is_scaled || !bits(op, 21, 21);
	int32_t offset = is_scaled ? (int32_t)(bits(op, 21, 10) << size) : sbits(op, 20, 12);
	bool writes_back = !is_scaled && has_offset && (mode & 1);

	if (size == 3 && opc == 2 && !bits(op, 26, 26)) /* prfm */
		return;
	follow_access(s, &(struct access){.base = bits(op, 9, 5), .reg = bits(op, 4, 0), .second = SP,
		.offset = writes_back && mode == 1 ? 0 : offset, .back = writes_back ? offset : 0, .is_load = opc != 0,
		.is_word64 = size == 3 && has_offset, .is_vector = bits(op, 26, 26)});
}

static void load_store(struct frame_state *s, uint32_t op)
{
	bool is_vector = bits(op, 26, 26);

	if ((op & 0x3a000000) == 0x28000000)
		pair(s, op);
	else if ((op & 0x3a000000) == 0x38000000)
		single(s, op);
	else if ((op & 0x3b000000) == 0x18000000 && !is_vector) /* a literal */
		set_reg(s, bits(op, 4, 0));
	else if ((op & 0xbe800000) == 0x0c800000 && bits(op, 9, 5) == SP) /* ld1 .., [sp], .. */
		lose(s);
	else if (!is_vector && (op & 0x3f000000) == 0x08000000) { /* exclusive: status, one or two registers */
		set_reg(s, bits(op, 20, 16));
		set_reg(s, bits(op, 14, 10));
		set_reg(s, bits(op, 4, 0));
	} else if ((op & 0x3b200c00) == 0x38200000) { /* atomic */
		set_reg(s, bits(op, 4, 0));
	}
}

/* ---- other instructions ---------------------------------------------------------------- */

/* Adds a number: register = from + value; 31 is sp. */
static void add(struct frame_state *s, unsigned to, unsigned from, int64_t value)
{
	bool by_sp = s->kind == FRAME_BY_SP;

	if (to == SP && from == SP) {
		set_depth(s, s->depth - value);
	} else if (to == SP && from == FP && s->fp_is_base) {
		sp_by(s, s->fp_depth - value);
	} else if (to == SP && from == s->reg) {
		sp_by(s, s->reg_depth - value);
	} else if (to == SP) {
		move_sp(s);
	} else if (to == FP && from == SP && by_sp && s->fp_slot) {
		s->fp_is_base = true;
		s->fp_depth = (int32_t)(s->depth - value);
	} else {
		set_reg(s, to);
		if (from == SP && by_sp && to != FP && to != LR && to != FRAME_NO_REG) {
			s->reg = (uint8_t)to;
			s->reg_depth = (int32_t)(s->depth - value);
		}
	}
}

static void data_immediate(struct frame_state *s, uint32_t op)
{
	unsigned to = bits(op, 4, 0), from = bits(op, 9, 5);
	int64_t value = (int64_t)bits(op, 21, 10) << (bits(op, 22, 22) ? 12 : 0);

	if ((op & 0x1f800000) == 0x12000000) { /* and, orr, eor; ands does not change sp */
		if (to == SP && bits(op, 30, 29) != 3)
			move_sp(s);
		else
			set_reg(s, to);
	} else if ((op & 0x9f000000) != 0x91000000) { /* mov, bfm, adr, extr; 32 bits */
		set_reg(s, to);
	} else if (bits(op, 29, 29)) { /* adds, subs: 31 is xzr */
		if (to != SP)
			set_reg(s, to);
	} else {
		add(s, to, from, bits(op, 30, 30) ? -value : value);
	}
}

static void data_register(struct frame_state *s, uint32_t op)
{
	unsigned to = bits(op, 4, 0);
	bool is_compare = (op & 0x3fe00000) == 0x3a400000; /* ccmp, ccmn: flags only */

	if ((op & 0x1fe00000) == 0x0b200000 && !bits(op, 29, 29) && to == SP) /* add and sub of an extended register */
		move_sp(s);
	else if (to != SP && !is_compare)
		set_reg(s, to);
}

/* Vectors: only a few instructions write a general register. */
static void vector(struct frame_state *s, uint32_t op)
{
	unsigned opcode = bits(op, 18, 16);

	if ((op & 0x5f20fc00) == 0x1e200000 && opcode != 2 && opcode != 3 && opcode != 7) /* fcvt.., fmov */
		set_reg(s, bits(op, 4, 0));
	else if ((op & 0xbfe0dc00) == 0x0e001c00 || (op & 0xbfe0fc00) == 0x0e003c00) /* smov, umov */
		set_reg(s, bits(op, 4, 0));
}

/* A thread begins where x30 becomes zero. */
static bool clears_lr(uint32_t op)
{
	return op == 0xd280001e || op == 0xaa1f03fe; /* mov x30, #0; mov x30, xzr */
}

static void follow(struct frame_state *s, uint32_t op)
{
	if (clears_lr(op) && !s->depth)
		*s = (struct frame_state){.kind = FRAME_FIRST, .reg = FRAME_NO_REG};
	else if ((op & 0x1c000000) == 0x10000000)
		data_immediate(s, op);
	else if ((op & 0x0a000000) == 0x08000000)
		load_store(s, op);
	else if ((op & 0x0e000000) == 0x0a000000)
		data_register(s, op);
	else if ((op & 0x0e000000) == 0x0e000000)
		vector(s, op);
}

/* Callers keep nothing in x0 to x18 over a call. */
static void follow_call(struct frame_state *s)
{
	set_reg(s, LR);
	if (s->reg < 19)
		s->reg = FRAME_NO_REG;
}

/* ---- one step ---------------------------------------------------------------------------- */

/* br, blr, ret, and those that authenticate: opc in bits 21 to 24. */
static enum code_flow flow_by_register(uint32_t op)
{
	switch (bits(op, 23, 21)) {
	case 0:
		return CODE_JUMP_INDIRECT;
	case 1:
		return CODE_CALL_INDIRECT;
	default:
		return CODE_RETURN;
	}
}

static enum code_flow flow_of(uint32_t op, uint64_t vaddr, uint64_t *target)
{
	if (A64_IS_B(op) || A64_IS_BL(op)) {
		*target = vaddr + (uint64_t)A64_BL_DISTANCE(op);
		return A64_IS_B(op) ? CODE_JUMP : CODE_CALL;
	}
	if ((op & 0xff000000) == 0x54000000 || (op & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
		*target = vaddr + (uint64_t)(int64_t)(sbits(op, 23, 5) * 4);
		return CODE_BRANCH;
	}
	if ((op & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		*target = vaddr + (uint64_t)(int64_t)(sbits(op, 18, 5) * 4);
		return CODE_BRANCH;
	}
	if ((op & 0xfe000000) == 0xd6000000)
		return flow_by_register(op);
	return (op & 0xff800000) == 0xd4000000 && bits(op, 23, 21) ? CODE_STOP : CODE_NEXT; /* brk, hlt; not svc */
}

/* Returns whether it is an instruction: groups of the encoding that are unallocated, udf, SME. */
static bool is_known(uint32_t op)
{
	unsigned group = bits(op, 28, 25);

	return group > 3 || group == 2; /* 2: SVE */
}

static struct frame_step step(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
	struct frame_state *s, uint32_t *slow)
{
	struct frame_step ret = {};
	uint32_t op;

	if (size < sizeof(op))
		return ret;
	memcpy(&op, bytes, sizeof(op));
	if (op >> 16 == 0) /* udf */
		return (struct frame_step){.size = sizeof(op), .flow = CODE_STOP};
	if (!is_known(op))
		return ret;
	ret.size = sizeof(op);
	ret.flow = flow_of(op, vaddr, &ret.target);
	if (s->kind == FRAME_LOST || s->kind == FRAME_FIRST)
		return ret;
	if (ret.flow == CODE_NEXT)
		follow(s, op);
	else if (ret.flow == CODE_CALL || ret.flow == CODE_CALL_INDIRECT)
		follow_call(s);
	else if (ret.flow == CODE_RETURN && (op & 0xfffff3ff) != 0xd65f03c0 && (op & 0xfffffbff) != 0xd65f0bff)
		s->ra_is_lost = true; /* ret by another register */
	return ret;
}

/* nop, zeros, brk */
static size_t padding(const uint8_t *p, size_t size)
{
	size_t n = 0;
	uint32_t op;

	for (; size - n >= sizeof(op); n += sizeof(op)) {
		memcpy(&op, p + n, sizeof(op));
		if (op && op != A64_NOP && !A64_IS_BRK(op))
			return n;
	}
	return size;
}

static bool may_end(const uint8_t *code)
{
	uint32_t op;

	memcpy(&op, code - sizeof(op), sizeof(op));
	return !op || op == A64_NOP || A64_IS_BRK(op) || A64_IS_B(op) || (op & 0xfe000000) == 0xd6000000;
}

/* paciasp, pacibsp; stp x29, x30, [sp, #-..]! */
static bool begins(const uint8_t *code, size_t size)
{
	uint32_t op;

	if (size < sizeof(op))
		return false;
	memcpy(&op, code, sizeof(op));
	return op == 0xd503233f || op == 0xd503237f || (op & 0xffe07fff) == 0xa9a07bfd;
}

static bool is_returning(const struct frame_state *s)
{
	return s->kind != FRAME_BY_SP || (!s->depth && !s->ra_slot && !s->ra_is_lost && !s->fp_slot);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static uint64_t rule(const struct frame_state *s)
{
	int32_t slot = -s->fp_slot / 8, offset = s->kind == FRAME_BY_SP ? s->depth : s->fp_depth;
	unsigned flags = RULE_RA_REG;

	if (s->kind == FRAME_FIRST)
		return RULE(RULE_END, 0, 0, 0, 0);
	if (s->kind == FRAME_LOST || s->fp_slot % 8 || s->ra_slot % 8 || s->ra_slot / 8 > INT16_MAX ||
		slot < INT16_MIN || (!s->ra_slot && s->ra_is_lost))
		return 0;
	if (s->ra_slot && s->fp_slot) {
		if (s->ra_slot != s->fp_slot - 8)
			return 0;
		flags = RULE_RA_SLOT;
	} else if (s->ra_slot) {
		flags = RULE_RA_ONLY;
		slot = -s->ra_slot / 8;
	}
	return RULE(RULE_CFA, s->kind == FRAME_BY_SP ? RULE_REG_SP : RULE_REG_FP, flags, slot, offset);
}

const struct unframed_machine unframed_arm64 = {
	.unit = 4,
	.entry = {.kind = FRAME_BY_SP, .reg = FRAME_NO_REG},
	.relative = R_AARCH64_RELATIVE,
	.step = step,
	.rule = rule,
	.padding = padding,
	.may_end = may_end,
	.begins = begins,
	.is_returning = is_returning,
};
