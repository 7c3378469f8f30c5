// SPDX-License-Identifier: Apache-2.0
/* cfi.c - runs the programs of call frame information, which gives rows.
 *
 * Only CFA, return address and frame pointer of the caller are followed: a rule of 64 bits holds them, and
 * the walk needs nothing else. Expressions are recognised by their shape, not run; an unknown shape
 * becomes a row without rule. */
#include "cfi.h"

#include <elf.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"

enum { DW_X86_RBX = 3, DW_X86_FP = 6, DW_X86_SP = 7, DW_ARM_FP = 29, DW_ARM_LR = 30, DW_ARM_SP = 31 };

/* ---- the state, and its rule --------------------------------------------- */

struct column {
	enum { SAME, UNDEFINED, AT_CFA, IN_REG, AT_EXPR, STRANGE } kind;
	int64_t offset; /* AT_CFA; IN_REG: the register */
	struct reader expr;
};

struct state {
	bool is_expr;
	uint32_t reg;
	int64_t offset;
	struct reader expr;
	struct column fp, ra, rbx;
};

#define NEST_MAX 8
struct run {
	const struct cie *cie;
	uint16_t machine;
	bool want_rbx;
	uint32_t fp; /* DWARF's number of the frame pointer */
	struct state now, initial, saved[NEST_MAX];
	unsigned nsaved;
	bool failed;
	bool by_plt; /* see pushed_by_plt() */
};

/* ORDER RULE_REG: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 are DWARF's 0..15. */
static int rule_reg(uint16_t machine, uint32_t dwarf)
{
	static const uint8_t x86[16] = {RULE_REG_RAX, RULE_REG_RDX, RULE_REG_RCX, RULE_REG_RBX, RULE_REG_RSI, RULE_REG_RDI,
		RULE_REG_FP, RULE_REG_SP, RULE_REG_R8, RULE_REG_R9, RULE_REG_R10, RULE_REG_R11, RULE_REG_R12, RULE_REG_R13, RULE_REG_R14,
		RULE_REG_R15};

	if (machine == EM_X86_64)
		return dwarf < 16 ? x86[dwarf] : -1;
	return dwarf == DW_ARM_SP ? RULE_REG_SP : dwarf == DW_ARM_FP ? RULE_REG_FP : -1;
}

static bool is_s16(int64_t v)
{
	return v == (int16_t)v;
}

/* DW_OP_bregN offset: returns the register, or -1. */
static int expr_breg(struct reader *e, int64_t *ret_offset)
{
	uint8_t op = read_uint(e, 1);

	if (op < 0x70 || op > 0x8f)
		return -1;
	*ret_offset = read_sleb(e);
	return e->bad ? -1 : op - 0x70;
}

/* Sets the slot of the caller's fp and its flag. Returns false if a rule cannot express it. */
static bool fp_slot(const struct run *run, int64_t *ret, unsigned *flags)
{
	const struct column *c = &run->now.fp;
	struct reader e = c->expr;
	int reg;

	*ret = 0;
	if (c->kind == SAME || c->kind == UNDEFINED)
		return true;
	if (c->kind == AT_CFA) {
		*ret = c->offset / 8;
		return c->offset && c->offset % 8 == 0 && is_s16(*ret);
	}
	if (c->kind != AT_EXPR || (reg = expr_breg(&e, ret)) < 0 || e.p != e.end || *ret % 8)
		return false;
	if (rule_reg(run->machine, reg) == RULE_REG_FP)
		*flags |= RULE_FP_AT_FP;
	else if (rule_reg(run->machine, reg) == RULE_REG_SP && !run->now.is_expr && run->now.reg == (uint32_t)reg)
		*ret -= run->now.offset;
	else
		return false;
	*ret /= 8;
	return is_s16(*ret) && (*ret || (*flags & RULE_FP_AT_FP));
}

static bool ra_x86(const struct column *ra, unsigned *flags)
{
	if (ra->kind == IN_REG && ra->offset == 5 /* rdi: vfork */) {
		*flags |= RULE_RA_REG;
		return true;
	}
	return ra->kind == AT_CFA && ra->offset == -8;
}

static bool ra_arm(const struct column *ra, int64_t *slot, unsigned *flags)
{
	if (ra->kind == SAME || (ra->kind == IN_REG && ra->offset == DW_ARM_LR)) {
		*flags |= RULE_RA_REG;
		return true;
	}
	if (ra->kind == IN_REG && ra->offset == 13 && !*slot && !*flags) {
		*flags |= RULE_RA_X13;
		return true;
	}
	if (ra->kind != AT_CFA || ra->offset % 8 || !is_s16(ra->offset / 8) || (*flags & RULE_FP_AT_FP))
		return false;
	if (!*slot) {
		*slot = ra->offset / 8;
		*flags |= RULE_RA_ONLY;
		return *slot != 0;
	}
	*flags |= RULE_RA_SLOT;
	return ra->offset / 8 == *slot + 1;
}

/* The expression is breg N off, deref [, plus_uconst m], or ld's for .plt. */
static uint64_t cfa_expr_rule(const struct run *run, unsigned flags, int64_t slot)
{
	static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a}; /* rsp+8, rip & 15.. */
	struct reader e = run->now.expr;
	int64_t offset = 0, add = 0;
	size_t n = e.end - e.p;
	int reg;

	if (run->machine == EM_X86_64 && n == 11 && !memcmp(e.p, plt, sizeof(plt)) &&
		e.p[6] >= 0x30 && e.p[6] <= 0x3f && e.p[7] == 0x2a)
		return RULE(RULE_PLT, RULE_REG_SP, 0, 0, e.p[6] - 0x30);
	reg = expr_breg(&e, &offset);
	if (reg < 0 || rule_reg(run->machine, reg) < 0 || read_uint(&e, 1) != 0x06)
		return 0;
	if (e.p < e.end && read_uint(&e, 1) == 0x23)
		add = read_uleb(&e);
	if (e.bad || e.p != e.end || !is_s16(offset) || !is_s16(add))
		return 0;
	return RULE(RULE_CFA_DEREF, rule_reg(run->machine, reg), flags, slot,
		(uint32_t)(uint16_t)offset | (uint32_t)(uint16_t)add << 16);
}

static uint64_t rbx_rule(const struct state *s, int reg, unsigned flags, int64_t slot)
{
	int64_t at = s->rbx.kind == AT_CFA ? s->rbx.offset / 8 : 0;
	bool known = s->rbx.kind == SAME || s->rbx.kind == UNDEFINED || (at && at == (int8_t)at);

	if (!known || s->offset < -(1 << 23) || s->offset >= 1 << 23)
		return RULE(RULE_CFA, reg, flags, slot, s->offset);
	return RULE(RULE_CFA, reg, flags | RULE_RBX, slot,
		(s->offset & 0xffffff) | (uint32_t)(at & 0xff) << 24);
}

/* In glibc's _dl_runtime_resolve of arm64, RA is above the CFA: its CFI leaves out the words that the PLT
 * pushed, the last of which is RA. */
static int64_t pushed_by_plt(struct run *run, int64_t *slot, unsigned flags)
{
	if (!(flags & RULE_RA_ONLY) || (flags & RULE_RA_REG) || *slot != 1)
		return 0;
	run->by_plt = true;
	*slot -= 2;
	return 16;
}

/* arm64: a CFA of x0 is a jmp_buf's address; the jmp_buf has the frame that longjmp goes to. 2.41
 * first calls another function. */
static uint64_t longjmp_arm(const struct state *s)
{
	if (s->ra.kind == IN_REG && s->ra.offset == 13)
		return RULE(RULE_CFA, RULE_REG_SP, RULE_RA_X13, 0, 0);
	return RULE(RULE_LONGJMP, 0, 0, 0, 0);
}

static uint64_t state_rule(struct run *run)
{
	const struct state *s = &run->now;
	int64_t pushed;
	unsigned flags = 0;
	int64_t slot;
	int reg = rule_reg(run->machine, s->reg);

	if (run->cie->signal)
		return RULE(RULE_SIGNAL, 0, 0, 0, 0);
	if (s->ra.kind == UNDEFINED)
		return RULE(RULE_END, 0, 0, 0, 0);
	if (run->machine == EM_X86_64 && s->ra.kind == IN_REG && s->ra.offset == 1 &&
		s->fp.kind == IN_REG && s->fp.offset == 9)
		return RULE(RULE_LONGJMP, 0, 0, 0, 0);
	if (run->machine == EM_AARCH64 && !s->is_expr && s->reg == 0 && !s->offset)
		return longjmp_arm(s);
	if (!fp_slot(run, &slot, &flags))
		return 0;
	if (run->machine == EM_X86_64 ? !ra_x86(&s->ra, &flags) : !ra_arm(&s->ra, &slot, &flags))
		return 0;
	if (s->is_expr)
		return cfa_expr_rule(run, flags, slot);
	pushed = pushed_by_plt(run, &slot, flags);
	if (reg < 0 || s->offset != (int32_t)s->offset)
		return 0;
	if (run->want_rbx)
		return rbx_rule(s, reg, flags, slot);
	return RULE(RULE_CFA, reg, flags, slot, s->offset + pushed);
}

/* ---- the program ------------------------------------------------------- */

void eh_row_add(struct eh_rows *rows, uint64_t vaddr, uint64_t rule)
{
	struct eh_row *last = rows->len ? &rows->data[rows->len - 1] : NULL;

	if (last && last->vaddr == vaddr) {
		last->rule = rule;
		if (rows->len > 1 && last[-1].rule == rule)
			rows->len--;
		return;
	}
	if ((last && last->rule == rule) || (!last && !rule))
		return;
	vec_push(rows, (struct eh_row){vaddr, rule});
}

static void set_column(struct run *run, struct state *s, uint64_t reg, struct column c)
{
	if (reg == run->fp)
		s->fp = c;
	if (reg == run->cie->ra)
		s->ra = c;
	if (reg == DW_X86_RBX && run->want_rbx)
		s->rbx = c;
}

static void restore_column(struct run *run, uint64_t reg)
{
	if (reg == run->fp)
		run->now.fp = run->initial.fp;
	if (reg == run->cie->ra)
		run->now.ra = run->initial.ra;
	if (reg == DW_X86_RBX)
		run->now.rbx = run->initial.rbx;
}

static void set_offset(struct run *run, uint64_t reg, int64_t factored)
{
	set_column(run, &run->now, reg,
		(struct column){AT_CFA, (int64_t)((uint64_t)factored * (uint64_t)run->cie->data_align), {}});
}

static void set_cfa(struct run *run, uint64_t reg, uint64_t offset)
{
	run->now.is_expr = false;
	run->now.reg = reg > UINT32_MAX ? UINT32_MAX : reg;
	run->now.offset = offset;
}

static void remember(struct run *run)
{
	if (run->nsaved == NEST_MAX)
		run->failed = true;
	else
		run->saved[run->nsaved++] = run->now;
}

static void recall(struct run *run)
{
	if (!run->nsaved)
		run->failed = true;
	else
		run->now = run->saved[--run->nsaved];
}

/* Runs an instruction whose high two bits are 0, except those that advance. */
static void step_extended(struct run *run, struct reader *r, uint8_t op)
{
	int64_t align = run->cie->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: return; /* nop */
	case 0x05: reg = read_uleb(r); return set_offset(run, reg, read_uleb(r));
	case 0x06: return restore_column(run, read_uleb(r));
	case 0x07: return set_column(run, &run->now, read_uleb(r), (struct column){UNDEFINED, 0, {}});
	case 0x08: return set_column(run, &run->now, read_uleb(r), (struct column){SAME, 0, {}});
	case 0x09:
		reg = read_uleb(r);
		return set_column(run, &run->now, reg, (struct column){IN_REG, read_uleb(r), {}});
	case 0x0a: return remember(run);
	case 0x0b: return recall(run);
	case 0x0c: reg = read_uleb(r); return set_cfa(run, reg, read_uleb(r));
	case 0x0d: return set_cfa(run, read_uleb(r), run->now.offset);
	case 0x0e: return set_cfa(run, run->now.reg, read_uleb(r));
	case 0x0f:
		run->now.is_expr = true;
		run->now.expr = read_block(r, read_uleb(r));
		return;
	case 0x10:
		reg = read_uleb(r);
		return set_column(run, &run->now, reg,
			(struct column){AT_EXPR, 0, read_block(r, read_uleb(r))});
	case 0x11: reg = read_uleb(r); return set_offset(run, reg, read_sleb(r));
	case 0x12: reg = read_uleb(r); return set_cfa(run, reg, (uint64_t)read_sleb(r) * align);
	case 0x13: return set_cfa(run, run->now.reg, (uint64_t)read_sleb(r) * align);
	case 0x14: case 0x15: /* val_offset */
		reg = read_uleb(r);
		read_uleb(r);
		return set_column(run, &run->now, reg, (struct column){STRANGE, 0, {}});
	case 0x16: /* val_expression */
		reg = read_uleb(r);
		read_block(r, read_uleb(r));
		return set_column(run, &run->now, reg, (struct column){STRANGE, 0, {}});
	case 0x2c: case 0x2d: return; /* arm64: signs RA; the walk strips the signature */
	case 0x2e: read_uleb(r); return; /* size of arguments */
	case 0x2f: reg = read_uleb(r); return set_offset(run, reg, -read_uleb(r));
	}
	run->failed = true;
}

/* Returns the location's advance in bytes, or false if the instruction does not advance. */
static bool step_advance(struct run *run, struct reader *r, uint8_t op, uint64_t *ret)
{
	uint64_t unit = run->cie->code_align;

	if (op >> 6 == 1)
		*ret = (op & 0x3f) * unit;
	else if (op >= 0x02 && op <= 0x04)
		*ret = read_uint(r, 1 << (op - 2)) * unit;
	else if (op == 0x1d) /* MIPS_advance_loc8 */
		*ret = read_uint(r, 8) * unit;
	else
		return false;
	return true;
}

static void step(struct run *run, struct reader *r, uint8_t op)
{
	if (op >> 6 == 2)
		set_offset(run, op & 0x3f, read_uleb(r));
	else if (op >> 6 == 3)
		restore_column(run, op & 0x3f);
	else
		step_extended(run, r, op);
}

/* Returns whether the program has cfi_offset(lr, +8): see pushed_by_plt(). */
static bool may_be_by_plt(const struct fde *f, const struct cfi_want *want)
{
	static const uint8_t offset_sf[] = {0x11, DW_ARM_LR, 0x7f};

	return want->machine == EM_AARCH64 &&
		memmem(f->program.p, f->program.end - f->program.p, offset_sf, sizeof(offset_sf));
}

/* Adds the rows of an FDE. by_plt: the PLT is known to enter the function. Returns whether it does. */
static bool run_program(const struct cie *c, const struct fde *f, uint64_t end,
	const struct cfi_want *want, bool by_plt, struct eh_rows *rows)
{
	struct run run; /* large: only the used members are set */
	struct reader r = c->program;
	uint64_t at = f->start, by;

	run.cie = c;
	run.machine = want->machine;
	run.want_rbx = want->rbx;
	run.fp = want->machine == EM_X86_64 ? DW_X86_FP : DW_ARM_FP;
	run.now = (struct state){};
	run.initial = run.now;
	run.nsaved = 0;
	run.failed = run.by_plt = false;
	/* Sets initial columns, too; a CIE that advances is broken. */
	while (r.p < r.end && !r.bad && !run.failed)
		step(&run, &r, read_uint(&r, 1));
	run.initial = run.now;
	for (r = f->program; r.p < r.end && !r.bad && !run.failed;) {
		uint8_t op = read_uint(&r, 1);

		if (op == 0x01) { /* set_loc */
			by = read_encoded(&r, c->pointers, 0) - at;
		} else if (!step_advance(&run, &r, op, &by)) {
			step(&run, &r, op);
			continue;
		}
		if (!by)
			continue;
		eh_row_add(rows, at, by_plt && at == f->start ?
			RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 16) : state_rule(&run));
		if (at + by < at || at + by >= end)
			return run.by_plt;
		at += by;
	}
	eh_row_add(rows, at, run.failed || r.bad ? 0 : state_rule(&run));
	return run.by_plt;
}

void fde_rows(const struct cie *c, const struct fde *f, uint64_t end,
	const struct cfi_want *want, struct eh_rows *rows)
{
	_cleanup_(eh_rows_done) struct eh_rows seen = {};
	bool by_plt = may_be_by_plt(f, want) && run_program(c, f, end, want, false, &seen);

	run_program(c, f, end, want, by_plt, rows);
}
