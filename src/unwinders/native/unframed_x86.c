// SPDX-License-Identifier: Apache-2.0
/* unframed_x86.c - follows sp, rbp and the saved rbp through the instructions of a function. */
#include <stdlib.h>
#include <string.h>

#include "bpf/walk/unwind.h"
#include "unframed_state.h"

#define DEPTH_MAX (1 << 20)

static void lose(struct frame_state *s)
{
	*s = (struct frame_state){.reg = RSP};
}

static bool is_reg(const struct code_operand *o, unsigned reg)
{
	return o->kind == CODE_REG && o->reg == reg && o->size == 8;
}

/* Returns whether it is memory at reg + o->value. */
static bool is_at(const struct code_operand *o, unsigned reg)
{
	return o->kind == CODE_MEM && o->reg == reg && o->index == CODE_REG_NONE && !o->thread &&
		o->value > -DEPTH_MAX && o->value < DEPTH_MAX;
}

/* A return address that was popped is lost, except where a thread begins: its first code clears rbp. */
static void set_depth(struct frame_state *s, int64_t depth)
{
	bool popped = s->kind == FRAME_BY_SP && depth < 8;

	if (popped && s->fp_is_zero)
		*s = (struct frame_state){.kind = FRAME_FIRST, .reg = RSP};
	else if (popped || depth < -DEPTH_MAX || depth > DEPTH_MAX)
		lose(s);
	else
		s->depth = (int32_t)depth;
}

/* sp has an unknown distance from the CFA now. */
static void move_sp(struct frame_state *s)
{
	if (s->kind == FRAME_BY_SP && (s->fp_is_base || s->reg != RSP)) {
		s->kind = FRAME_MOVED;
		s->depth = 0;
		s->has_slot = s->fp_is_moved = false;
	} else if (!s->fp_is_base) {
		lose(s);
	}
}

static void sp_by(struct frame_state *s, int64_t depth)
{
	s->kind = FRAME_BY_SP;
	s->has_slot = s->fp_is_moved = false;
	set_depth(s, depth);
}

/* ---- instructions ----------------------------------------------------------------- */

static bool has_callers_fp(const struct frame_state *s)
{
	return !s->fp_is_base && !s->fp_is_zero && !s->fp_is_other && !s->fp_slot;
}

static void push(struct frame_state *s, const struct code_operand *o)
{
	bool fp = is_reg(o, RBP) && has_callers_fp(s);

	set_depth(s, (int64_t)s->depth + (o->size == 2 ? 2 : 8));
	if (fp && s->kind == FRAME_BY_SP)
		s->fp_slot = s->depth;
	else if (fp && s->kind == FRAME_MOVED)
		lose(s); /* its place has no distance from the CFA */
	if (s->kind == FRAME_MOVED && s->reg != RSP && is_reg(o, s->reg)) {
		s->has_slot = true;
		s->slot = s->depth;
		s->slot_depth = s->reg_depth;
	}
}

/* rbp gets another value. Functions save it first. */
static void set_fp(struct frame_state *s, bool is_callers)
{
	bool needs_fp = s->kind == FRAME_MOVED && !s->has_slot && s->reg == RSP;

	s->fp_is_base = s->fp_is_zero = s->fp_is_moved = false;
	if (is_callers)
		s->fp_slot = 0;
	else if (needs_fp)
		lose(s);
	else if (!s->fp_slot)
		s->fp_is_other = true;
}

static void pop(struct frame_state *s, const struct code_operand *o)
{
	int32_t depth = s->depth;

	if (is_reg(o, RSP)) {
		if (s->kind == FRAME_MOVED && s->has_slot && depth == s->slot)
			sp_by(s, s->slot_depth);
		else
			lose(s);
		return;
	}
	if (is_reg(o, RBP))
		set_fp(s, s->kind == FRAME_BY_SP && depth == s->fp_slot);
	if (o->kind == CODE_REG && o->reg == s->reg)
		s->reg = RSP;
	set_depth(s, (int64_t)depth - (o->size == 2 ? 2 : 8));
}

static void leave(struct frame_state *s)
{
	bool is_callers = s->fp_depth == s->fp_slot;
	int32_t depth = s->fp_depth - 8;

	if (!s->fp_is_base) {
		lose(s);
		return;
	}
	sp_by(s, s->fp_depth);
	set_fp(s, is_callers);
	set_depth(s, depth);
}

static void mov_to_sp(struct frame_state *s, const struct code_operand *from)
{
	if (is_reg(from, RBP) && s->fp_is_base)
		sp_by(s, s->fp_depth);
	else if (is_reg(from, RBP) && s->fp_is_moved)
		s->depth = s->fp_depth;
	else if (s->reg != RSP && is_reg(from, s->reg))
		sp_by(s, s->reg_depth);
	else if (is_at(from, RSP) && s->kind == FRAME_MOVED && s->has_slot && s->depth - from->value == s->slot)
		sp_by(s, s->slot_depth);
	else
		lose(s);
}

static void lea_to_sp(struct frame_state *s, const struct code_operand *from)
{
	if (is_at(from, RSP))
		set_depth(s, s->depth - from->value);
	else if (is_at(from, RBP) && s->fp_is_base)
		sp_by(s, s->fp_depth - from->value);
	else if (is_at(from, RBP) && s->fp_is_moved)
		set_depth(s, s->fp_depth - from->value);
	else if (s->reg != RSP && is_at(from, s->reg))
		sp_by(s, s->reg_depth - from->value);
	else
		move_sp(s);
}

static void to_sp(struct frame_state *s, const struct code_insn *i)
{
	const struct code_operand *from = &i->operand[1];

	if (!strcmp(i->mnemonic, "cmp") || !strcmp(i->mnemonic, "test"))
		return;
	if (!strcmp(i->mnemonic, "sub") && from->kind == CODE_IMM)
		set_depth(s, s->depth + from->value);
	else if (!strcmp(i->mnemonic, "add") && from->kind == CODE_IMM)
		set_depth(s, s->depth - from->value);
	else if (!strcmp(i->mnemonic, "mov"))
		mov_to_sp(s, from);
	else if (!strcmp(i->mnemonic, "lea"))
		lea_to_sp(s, from);
	else if (!strcmp(i->mnemonic, "and") || !strcmp(i->mnemonic, "sub"))
		move_sp(s);
	else
		lose(s);
}

static void to_fp(struct frame_state *s, const struct code_insn *i)
{
	const struct code_operand *from = &i->operand[1];
	bool mov = !strcmp(i->mnemonic, "mov"), by_sp = s->kind == FRAME_BY_SP;

	if (!strcmp(i->mnemonic, "cmp") || !strcmp(i->mnemonic, "test"))
		return;
	if (!strcmp(i->mnemonic, "xor") && from->kind == CODE_REG && from->reg == RBP && !s->fp_slot) {
		s->fp_is_base = false;
		s->fp_is_zero = true;
	} else if (by_sp && s->fp_slot && mov && is_reg(from, RSP)) {
		s->fp_is_base = true;
		s->fp_depth = s->depth;
	} else if (s->kind == FRAME_MOVED && s->fp_slot && s->has_slot && mov && is_reg(from, RSP)) {
		s->fp_is_base = false;
		s->fp_is_moved = true;
		s->fp_depth = s->depth;
	} else if (by_sp && s->fp_slot && !strcmp(i->mnemonic, "lea") && is_at(from, RSP)) {
		s->fp_is_base = true;
		s->fp_depth = (int32_t)(s->depth - from->value);
	} else {
		set_fp(s, by_sp && mov && is_at(from, RSP) && s->depth - from->value == s->fp_slot);
	}
}

/* Other registers: one may get an address in the frame. */
static void to_reg(struct frame_state *s, const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0], *from = &i->operand[1];
	bool by_sp = s->kind == FRAME_BY_SP, mov = !strcmp(i->mnemonic, "mov");

	if (to->kind == CODE_REG && to->reg < 16 && to->size == 8 && by_sp && mov && is_reg(from, RSP)) {
		s->reg = to->reg;
		s->reg_depth = s->depth;
	} else if (to->kind == CODE_REG && to->reg < 16 && by_sp && !strcmp(i->mnemonic, "lea") && is_at(from, RSP)) {
		s->reg = to->reg;
		s->reg_depth = (int32_t)(s->depth - from->value);
	} else if (to->kind == CODE_REG && to->reg == s->reg && strcmp(i->mnemonic, "cmp") != 0 &&
		strcmp(i->mnemonic, "test") != 0) {
		s->reg = RSP;
	}
}

static void to_memory(struct frame_state *s, const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0], *from = &i->operand[1];

	if (strcmp(i->mnemonic, "mov") != 0 || !is_at(to, RSP))
		return;
	if (s->kind == FRAME_BY_SP && is_reg(from, RBP) && has_callers_fp(s)) {
		s->fp_slot = (int32_t)(s->depth - to->value);
	} else if (s->kind == FRAME_MOVED && s->reg != RSP && is_reg(from, s->reg)) {
		s->has_slot = true;
		s->slot = (int32_t)(s->depth - to->value);
		s->slot_depth = s->reg_depth;
	}
}

/* Calls, system calls and instructions with operands of their own change registers that they do not name. */
static bool is_callee_saved(unsigned reg)
{
	return reg == RBX || reg >= 12;
}

static void follow(struct frame_state *s, const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0];

	if (!strcmp(i->mnemonic, "push"))
		push(s, to);
	else if (!strcmp(i->mnemonic, "pushfq"))
		set_depth(s, (int64_t)s->depth + 8);
	else if (!strcmp(i->mnemonic, "pop"))
		pop(s, to);
	else if (!strcmp(i->mnemonic, "popfq"))
		set_depth(s, (int64_t)s->depth - 8);
	else if (!strcmp(i->mnemonic, "leave"))
		leave(s);
	else if (!strcmp(i->mnemonic, "enter") || !strncmp(i->mnemonic, "xchg", 4))
		lose(s);
	else if (i->noperands && to->kind == CODE_REG && to->reg == RSP)
		to_sp(s, i);
	else if (i->noperands >= 2 && to->kind == CODE_REG && to->reg == RBP)
		to_fp(s, i);
	else if (i->noperands >= 2 && to->kind == CODE_REG)
		to_reg(s, i);
	else if (i->noperands >= 2 && to->kind == CODE_MEM)
		to_memory(s, i);
	else if (i->noperands < 2 && s->reg != RSP && !is_callee_saved(s->reg) && i->flow == CODE_NEXT)
		s->reg = RSP; /* mul, div, cpuid, syscall, rep movsb .. */
	if (!strncmp(i->mnemonic, "rep", 3) && !is_callee_saved(s->reg))
		s->reg = RSP;
	if ((i->flow == CODE_CALL || i->flow == CODE_CALL_INDIRECT) && !is_callee_saved(s->reg))
		s->reg = RSP;
}

/* ---- vector instructions ------------------------------------------------------------ */

/* Returns the bytes of ModRM, SIB and displacement, or 0 if there are fewer. SDM volume 2, tables 2-2 and 2-3; EVEX has
 * the same bytes. */
static size_t modrm_size(const uint8_t *p, size_t size)
{
	unsigned mod, rm;

	if (size < 2)
		return 0;
	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3)
		return 1;
	if (mod == 0 && (rm == 5 || (rm == 4 && (p[1] & 7) == 5)))
		return 5 + (rm == 4);
	return 1 + (rm == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Returns whether a vector instruction has a byte after its operands: SDM volume 2, appendix A. */
static bool has_immediate(unsigned map, uint8_t op)
{
	return map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)));
}

/* Returns the size of an instruction with a VEX or EVEX prefix, or 0: it is another one. They do not change rsp, and
 * compilers do not calculate a frame pointer with them. The library does not know the newest. */
static size_t vector_size(const uint8_t *p, size_t size)
{
	size_t prefix = size < 6 ? 0 : p[0] == 0xc5 ? 2 : p[0] == 0xc4 ? 3 : p[0] == 0x62 ? 4 : 0;
	size_t operands;
	unsigned map;
	uint8_t op;

	if (!prefix)
		return 0;
	map = prefix == 2 ? 1 : prefix == 3 ? p[1] & 31 : p[1] & 7;
	if (!map || map > 6)
		return 0;
	op = p[prefix];
	if (map == 1 && op == 0x77 && prefix < 4) /* vzeroupper */
		return prefix + 1;
	operands = modrm_size(p + prefix + 1, size - prefix - 1);
	return operands ? prefix + 1 + operands + has_immediate(map, op) : 0;
}

/* ---- one step --------------------------------------------------------------------- */

/* Returns whether a fast instruction may copy rsp, rbp or an address in the frame: mov and lea. ModRM: SDM volume 2,
 * chapter 2.1. */
static bool may_copy(const uint8_t *bytes, size_t size)
{
	bool rex = size && (bytes[0] & 0xf0) == 0x40;
	const uint8_t *p = bytes + rex;
	unsigned mod, reg, rm;

	if (size < 2U + rex || (p[0] != 0x89 && p[0] != 0x8b && p[0] != 0x8d))
		return false;
	mod = p[1] >> 6;
	reg = p[1] >> 3 & 7;
	rm = p[1] & 7;
	if (p[0] == 0x8d)
		return rm == RSP || rm == RBP;
	if (mod == 3)
		return (p[0] == 0x89 ? reg : rm) == RSP || (p[0] == 0x89 ? reg : rm) == RBP;
	return p[0] == 0x89 && reg == RBP;
}

static bool step_fast(const uint8_t *bytes, size_t size, uint64_t vaddr, const struct frame_state *s,
	struct frame_step *ret)
{
	struct code_fast p;

	if (s->reg != RSP || may_copy(bytes, size) || !code_x86_fast(bytes, size, &p))
		return false;
	*ret = (struct frame_step){p.size, p.flow, vaddr + (uint64_t)p.jump};
	return true;
}

static struct frame_step step(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr, struct frame_state *s,
	uint32_t *slow)
{
	struct frame_step ret;
	struct code_insn i;

	size_t vector;

	if (step_fast(bytes, size, vaddr, s, &ret))
		return ret;
	vector = vector_size(bytes, size);
	if (vector && vector <= size && s->reg == RSP)
		return (struct frame_step){.size = (uint8_t)vector};
	++*slow;
	if (!code_decode(c, bytes, size, vaddr, &i)) {
		s->reg = RSP; /* it may have been changed */
		return (struct frame_step){.size = vector <= size ? (uint8_t)vector : 0};
	}
	if (s->kind != FRAME_LOST && s->kind != FRAME_FIRST)
		follow(s, &i);
	return (struct frame_step){i.size, i.flow, i.target};
}

/* ---- rules ------------------------------------------------------------------------ */

/* By the numbers in instructions. */
static const uint8_t rule_regs[16] = {RULE_REG_RAX, RULE_REG_RCX, RULE_REG_RDX, RULE_REG_RBX, RULE_REG_SP, RULE_REG_FP,
	RULE_REG_RSI, RULE_REG_RDI, RULE_REG_R8, RULE_REG_R9, RULE_REG_R10, RULE_REG_R11, RULE_REG_R12, RULE_REG_R13,
	RULE_REG_R14, RULE_REG_R15};

static uint64_t rule(const struct frame_state *s)
{
	int32_t slot = -s->fp_slot / 8, before = s->depth - s->slot;

	if (s->kind == FRAME_FIRST)
		return RULE(RULE_END, 0, 0, 0, 0);
	if (s->kind == FRAME_LOST || s->fp_slot % 8 || slot < INT16_MIN)
		return 0;
	if (s->kind == FRAME_BY_SP)
		return RULE(RULE_CFA, RULE_REG_SP, 0, slot, s->depth);
	if (s->fp_is_base)
		return RULE(RULE_CFA, RULE_REG_FP, 0, slot, s->fp_depth);
	if (s->has_slot && before == (int16_t)before && s->slot_depth == (int16_t)s->slot_depth)
		return RULE(RULE_CFA_DEREF, RULE_REG_SP, 0, slot,
			(uint32_t)(uint16_t)before | (uint32_t)s->slot_depth << 16);
	return s->reg != RSP ? RULE(RULE_CFA, rule_regs[s->reg & 15], 0, slot, s->reg_depth) : 0;
}

/* ---- places between functions -------------------------------------------------------- */

/* Returns the bytes of padding at the start: int3, zeros, nops. nop with operand: 0f 1f and ModRM. */
static size_t padding(const uint8_t *p, size_t size)
{
	size_t n = 0, prefix, mod;

	while (n < size) {
		if (p[n] == 0xcc || p[n] == 0 || p[n] == 0x90) {
			n++;
			continue;
		}
		for (prefix = n; prefix < size && (p[prefix] == 0x66 || p[prefix] == 0x2e);)
			prefix++;
		if (prefix < size && prefix > n && p[prefix] == 0x90) {
			n = prefix + 1;
			continue;
		}
		if (size - prefix < 3 || p[prefix] != 0x0f || p[prefix + 1] != 0x1f)
			return n;
		mod = p[prefix + 2] >> 6;
		n = prefix + 3 + ((p[prefix + 2] & 7) == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
	}
	return size;
}

/* int3, ret, nop, zero */
static bool may_end(const uint8_t *code)
{
	uint8_t last = code[-1];

	return last == 0xcc || last == 0xc3 || last == 0x90 || !last;
}

static bool is_returning(const struct frame_state *s)
{
	return s->kind != FRAME_BY_SP || (s->depth == 8 && !s->fp_is_base);
}

const struct unframed_machine unframed_x86 = {
	.unit = 1,
	.entry = {.kind = FRAME_BY_SP, .reg = FRAME_NO_REG, .depth = 8},
	.relative = R_X86_64_RELATIVE,
	.step = step,
	.rule = rule,
	.padding = padding,
	.may_end = may_end,
	.is_returning = is_returning,
};
