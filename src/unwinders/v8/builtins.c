// SPDX-License-Identifier: Apache-2.0
/* builtins.c - rules of V8's embedded builtins, which have no call frame information.
 *
 * Most builtins make a frame, which fp then describes completely. But many have no frame, on some or all of
 * their paths, and then fp is their caller's. So each builtin is followed instruction by instruction: the
 * distance of sp below the CFA while there is no frame, and the places where a frame begins and ends. Code
 * that is reached by a jump continues with the jump's state; blocks are ordered so that the jump usually
 * comes first. If the state is unknown, the walk guesses, as in compiled code. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "bpf/lib/insn.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/cfi.h"
#include "unwinders/native/ehframe.h"
#include "v8.h"

#define BUILTINS_MAX 8192
#define BUILTIN_MAX  (1u << 20) /* maximum bytes of a builtin: the largest has some 30,000 */
#define PREFIX       "Builtins_"
#define DEPTH_MAX    32000 /* bytes */

enum kind {
	UNKNOWN, NO_FRAME, FRAME,
	RA_POPPED, /* x86_64: RA is in a register, and will be pushed again */
	RA_MOVES,  /* x86_64: sp moves below RA for arguments, and a loop copies RA there from the place that a
	            * register points to */
};

enum { RSP = 4, RBP = 5 };

struct state {
	uint8_t kind;
	uint8_t reg;  /* RA_POPPED: the register with RA; RA_MOVES, NO_FRAME: a register with the old sp; RSP: none */
	bool lr_lost; /* NO_FRAME, arm64: RA is no longer in LR */
	int16_t lr;   /* NO_FRAME, arm64: distance of RA's slot below the CFA; 0: RA is not in the stack */
	uint8_t copy;  /* NO_FRAME, x86_64: a register with a copy of RA, to move it; else 0 */
	bool pushing;    /* FRAME, x86_64: its slots are being pushed */
	bool sp_is_fp; /* UNKNOWN: the code has finished with a frame */
	bool passed;   /* the code was followed in state UNKNOWN */
	int16_t depth; /* CFA - sp; FRAME: may be -1, unknown */
	int16_t body; /* FRAME, x86_64: the depth between calls, which remove their arguments */
};

struct follow {
	struct elf *e;
	struct code *code; /* decoder of x86_64; arm64 is decoded here */
	bool arm;
	const uint8_t *bytes;
	uint64_t start, size;
	struct state *at; /* the state of a jump to here, by byte (x86_64) or instruction */
	struct eh_rows *rows;
};

/* An instruction's size, and where the code continues. */
struct step {
	unsigned size;
	bool jumps, ends; /* jumps: it may go to target; ends: the next instruction does not follow it */
	uint64_t target;
};

/* ---- x86_64 ---- */

static bool is_reg(const struct code_operand *o, unsigned reg)
{
	return o->kind == CODE_REG && o->reg == reg && o->size == 8;
}

static void move_sp(struct state *s, int64_t by)
{
	bool known = s->depth >= 0 && s->depth + by >= 0 && s->depth + by <= DEPTH_MAX;

	if (s->kind == NO_FRAME && !known)
		s->kind = UNKNOWN;
	s->depth = known ? (int16_t)(s->depth + by) : -1;
}

static void push(struct state *s, const struct code_operand *o)
{
	if (s->kind == RA_POPPED && o->kind == CODE_REG && o->reg == s->reg)
		*s = (struct state){ .kind = NO_FRAME, .reg = RSP, .depth = 8 };
	else
		move_sp(s, 8);
}

static void pop(struct state *s, const struct code_operand *o)
{
	if (is_reg(o, RBP) && (s->kind == FRAME || s->sp_is_fp))
		*s = (struct state){ .kind = NO_FRAME, .reg = RSP, .depth = 8 };
	else if (s->kind == NO_FRAME && s->depth == 8)
		*s = o->kind == CODE_REG ? (struct state){ .kind = RA_POPPED, .reg = o->reg } : (struct state){};
	else
		move_sp(s, -8);
}

static bool is_at_sp(const struct code_operand *o, int64_t offset)
{
	return o->kind == CODE_MEM && o->reg == RSP && o->index == CODE_REG_NONE && o->value == offset;
}

static void set_sp_otherwise(struct state *s, const struct code_insn *i)
{
	const struct code_operand *from = &i->operand[1];

	if (s->kind == NO_FRAME)
		s->kind = UNKNOWN;
	s->depth = s->sp_is_fp ? 16 : -1;
	/* Around a call of C, sp is aligned, and its old value is at sp. */
	if (s->kind == FRAME && !strcmp(i->mnemonic, "mov") && is_at_sp(from, 0))
		s->depth = s->body;
	if (!strcmp(i->mnemonic, "lea") && from->kind == CODE_MEM && from->reg == RBP && from->index == CODE_REG_NONE &&
		from->value <= 0 && from->value > -DEPTH_MAX)
		s->depth = (int16_t)(16 - from->value);
}

/* Follows an instruction that sets sp. */
static void set_sp(struct state *s, const struct code_insn *i)
{
	const struct code_operand *from = &i->operand[1];

	s->sp_is_fp = !strcmp(i->mnemonic, "mov") && is_reg(from, RBP);
	if (!strcmp(i->mnemonic, "sub") && from->kind == CODE_IMM)
		move_sp(s, from->value);
	else if (!strcmp(i->mnemonic, "add") && from->kind == CODE_IMM)
		move_sp(s, -from->value);
	else if (!strcmp(i->mnemonic, "lea") && from->kind == CODE_MEM && from->reg == RSP && from->index == CODE_REG_NONE)
		move_sp(s, -from->value);
	else if (s->kind == NO_FRAME && s->depth == 8 && s->reg != RSP && !strcmp(i->mnemonic, "sub"))
		s->kind = RA_MOVES;
	else if (strcmp(i->mnemonic, "cmp") != 0 && strcmp(i->mnemonic, "test") != 0)
		set_sp_otherwise(s, i);
}

/* A tail call's arguments may need more or less space, so RA is moved. */
static void move_ra(struct state *s, const struct code_operand *to, const struct code_operand *from)
{
	if (s->kind != NO_FRAME)
		return;
	if (to->kind == CODE_REG && is_reg(from, RSP))
		s->reg = to->reg;
	else if (to->kind == CODE_REG && to->reg == s->reg)
		s->reg = RSP;
	if (to->kind == CODE_REG && is_at_sp(from, s->depth - 8))
		s->copy = to->reg;
	else if (to->kind == CODE_REG && to->reg == s->copy)
		s->copy = 0;
	else if (s->copy && to->kind == CODE_MEM && to->reg == RSP && to->index == CODE_REG_NONE && is_reg(from, s->copy) &&
		to->value >= 0 && to->value < DEPTH_MAX)
		s->depth = (int16_t)(to->value + 8);
}

/* Before a tail call, fp is the caller's again while the frame is still on the stack. */
static void set_fp(struct state *s, const struct code_operand *from)
{
	if (is_reg(from, RSP))
		s->kind = s->kind == NO_FRAME && s->depth == 16 ? FRAME : UNKNOWN;
	else if (from->kind == CODE_MEM && from->reg == RBP && !from->value && from->index == CODE_REG_NONE)
		s->kind = s->kind == FRAME && s->depth >= 8 ? NO_FRAME : UNKNOWN;
	else
		s->kind = UNKNOWN;
}

static void follow_x86(const struct code_insn *i, struct state *s)
{
	const struct code_operand *to = &i->operand[0], *from = &i->operand[1];
	bool mov = !strcmp(i->mnemonic, "mov");
	uint8_t before = s->kind;

	if (!strcmp(i->mnemonic, "push"))
		push(s, to);
	else if (!strcmp(i->mnemonic, "pop"))
		pop(s, to);
	else if (!strcmp(i->mnemonic, "leave"))
		*s = (struct state){ .kind = s->kind == FRAME ? NO_FRAME : UNKNOWN, .depth = 8 };
	else if (i->noperands == 2 && is_reg(to, RBP) && mov)
		set_fp(s, from);
	else if (i->noperands >= 2 && is_reg(to, RSP))
		set_sp(s, i);
	else if (i->noperands == 2 && mov)
		move_ra(s, to, from);
	else
		s->pushing = false;
	if (s->kind == FRAME && s->kind != before)
		s->pushing = true;
	if (s->pushing)
		s->body = s->depth;
	if (s->kind == FRAME && (i->flow == CODE_CALL || i->flow == CODE_CALL_INDIRECT))
		s->depth = s->body;
}

/* This is the fast way: most instructions do not change the state much. */
static bool step_plain(const struct follow *f, uint64_t at, struct state *s, struct step *ret)
{
	struct code_fast p;

	if (!code_x86_fast(f->bytes + at, f->size - at, &p) || (p.mov && s->kind == NO_FRAME))
		return false;
	s->pushing &= p.mov;
	if (s->kind == FRAME && p.flow == CODE_CALL)
		s->depth = s->body;
	*ret = (struct step){ p.size, p.flow == CODE_JUMP || p.flow == CODE_BRANCH,
		p.flow == CODE_JUMP || p.flow == CODE_RETURN || p.flow == CODE_STOP, f->start + at + (uint64_t)p.jump };
	return true;
}

static struct step step_x86(struct follow *f, uint64_t at, struct state *s)
{
	struct code_insn i;
	struct step plain;

	if (step_plain(f, at, s, &plain))
		return plain;
	if (!code_decode(f->code, f->bytes + at, f->size - at, f->start + at, &i)) {
		s->kind = UNKNOWN;
		return (struct step){ .size = 1 };
	}
	follow_x86(&i, s);
	return (struct step){ i.size, i.flow == CODE_JUMP || i.flow == CODE_BRANCH,
		i.flow == CODE_JUMP || i.flow == CODE_JUMP_INDIRECT || i.flow == CODE_RETURN || i.flow == CODE_STOP,
		i.target };
}

/* ---- arm64: fields have the names of Arm's manual, C6.2 ---- */

enum { FP = 29, LR = 30, SP = 31 };

static int64_t sign_extend(uint32_t v, int bits)
{
	return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

/* A load or store by sp: the places of its operands, and the change of sp. */
struct access {
	bool load, pair;
	unsigned reg[2]; /* general registers; 32: none */
	int64_t at;      /* offset from the old sp */
	int64_t change;
};

static bool access_by_sp(uint32_t op, struct access *ret)
{
	bool vector = op >> 26 & 1, pair = (op & 0x3a000000) == 0x28000000;
	bool single = (op & 0xfb200000) == 0xf8000000 || (op & 0xffa00000) == 0x3c800000; /* indexed forms, also q */
	unsigned how = pair ? op >> 23 & 3 : op >> 10 & 3; /* 1: post-indexed, 3: pre-indexed */
	int64_t offset;

	if ((op >> 5 & 31) != SP || (!pair && !single) || (pair && !vector && op >> 30 != 2))
		return false;
	offset = pair ? sign_extend(op >> 15 & 127, 7) * (vector ? 4 << (op >> 30) : 8) : sign_extend(op >> 12 & 511, 9);
	*ret = (struct access){ .load = op >> 22 & 1, .pair = pair, .at = how == 1 ? 0 : offset,
		.change = how & 1 ? offset : 0,
		.reg = { vector ? 32 : op & 31, vector || !pair ? 32 : op >> 10 & 31 } };
	return true;
}

static void follow_access(const struct access *a, struct state *s)
{
	for (int i = 0; i < 2; i++) {
		if (s->kind == NO_FRAME && a->reg[i] == LR && !a->load)
			s->lr = (int16_t)(s->depth - a->at - 8 * i);
		if (s->kind == NO_FRAME && a->reg[i] == LR && a->load)
			s->lr_lost = false;
	}
	/* Loading a frame's record ends the frame. The record is just below the old CFA. */
	if ((s->kind == FRAME || s->sp_is_fp) && a->load && a->reg[0] == FP && a->reg[1] == LR)
		*s = (struct state){ .kind = NO_FRAME, .depth = (int16_t)(a->at + 16) };
	move_sp(s, -a->change);
}

/* In V8's code, and in all functions that it calls, the CFA is not needed while RA is in LR. */
static void lose_depth(struct state *s)
{
	if (s->kind == NO_FRAME && s->lr_lost)
		s->kind = UNKNOWN;
	s->depth = s->kind == NO_FRAME ? 0 : -1;
}

static void follow_arm(uint32_t op, struct state *s)
{
	bool add = (op & 0xff800000) == 0x91000000, sub = (op & 0xff800000) == 0xd1000000;
	unsigned from = op >> 5 & 31, to = op & 31;
	int64_t value = (int64_t)(op >> 10 & 4095) << (op >> 22 & 1 ? 12 : 0);
	struct access a;

	if (access_by_sp(op, &a)) {
		follow_access(&a, s);
	} else if (op == 0xa9407bbd && (s->kind == FRAME || s->sp_is_fp)) { /* ldp x29, x30, [x29] */
		*s = (struct state){ .kind = NO_FRAME, .depth = s->depth > 0 ? s->depth : 0 };
	} else if ((add || sub) && to == FP) {
		s->kind = add && from == SP && s->kind == NO_FRAME && s->lr == s->depth - value - 8 ? FRAME : UNKNOWN;
	} else if ((add || sub) && to == SP) {
		if (from == SP)
			move_sp(s, add ? -value : value);
		else
			lose_depth(s);
		s->sp_is_fp = from == FP;
		s->depth = from == FP && s->kind != NO_FRAME ? (int16_t)(add ? 16 - value : 16 + value) : s->depth;
	} else if ((op & 0xbfe00000) == 0x8b200000 && to == SP) { /* sub, add sp, .., x.. */
		lose_depth(s);
	} else if (to == LR && (op & 0x3b000000) != 0x39000000 && (op & 0x7fe0ffe0) == 0x2a0003e0) {
		s->lr_lost = true; /* mov x30, .. */
	}
}

static struct step step_arm(struct follow *f, uint64_t at, struct state *s)
{
	struct step step = { .size = 4 };
	uint32_t op;

	if (f->size - at < 4)
		return (struct step){ .size = (unsigned)(f->size - at), .ends = true };
	memcpy(&op, f->bytes + at, 4);
	follow_arm(op, s);
	if (A64_IS_BL(op) || A64_IS_BLR(op))
		s->lr_lost = true;
	step.jumps = A64_IS_B(op) || A64_IS_B_COND(op) || A64_IS_CB_TB(op);
	step.ends = A64_IS_B(op) || A64_IS_BR_RET(op) || A64_IS_BRK(op) || !(op >> 16);
	if (A64_IS_B(op))
		step.target = f->start + at + (uint64_t)(sign_extend(op & 0x3ffffff, 26) * 4);
	else if (step.jumps && (op & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		step.target = f->start + at + (uint64_t)(sign_extend(op >> 5 & 0x3fff, 14) * 4);
	else if (step.jumps)
		step.target = f->start + at + (uint64_t)(sign_extend(op >> 5 & 0x7ffff, 19) * 4);
	return step;
}

/* ---- one builtin ---- */

static const uint8_t rule_regs[16] = { RULE_REG_RAX, RULE_REG_RCX, RULE_REG_RDX, RULE_REG_RBX, RULE_REG_SP,
	RULE_REG_FP, RULE_REG_RSI, RULE_REG_RDI, RULE_REG_R8, RULE_REG_R9, RULE_REG_R10, RULE_REG_R11, RULE_REG_R12,
	RULE_REG_R13, RULE_REG_R14, RULE_REG_R15 };

static uint64_t rule_of(const struct follow *f, const struct state *s)
{
	if (s->kind == FRAME)
		return RULE(RULE_LANG, 0, 0, 0, V8_FRAME);
	if (s->kind == RA_POPPED) /* sp does not matter: the caller has a frame */
		return RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG | RULE_RA_ONLY, rule_regs[s->reg & 15], 8);
	if (s->kind == RA_MOVES)
		return RULE(RULE_CFA, rule_regs[s->reg & 15], 0, 0, 8);
	if (s->kind != NO_FRAME || (s->lr_lost && !s->lr))
		return RULE(RULE_LANG, 0, 0, 0, 0);
	if (!f->arm)
		return RULE(RULE_CFA, RULE_REG_SP, 0, 0, s->depth);
	if (s->lr_lost)
		return RULE(RULE_CFA, RULE_REG_SP, RULE_RA_ONLY, -s->lr / 8, s->depth);
	return RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, s->depth);
}

/* Joins the states of a jump and of the code before: they must agree, or one of them must be unknown. */
static void meet(struct state *s, const struct state *other)
{
	if (s->kind == UNKNOWN)
		*s = *other;
	if (s->kind != other->kind || (s->kind == NO_FRAME && s->depth != other->depth) ||
		(s->kind > FRAME && s->reg != other->reg))
		s->kind = UNKNOWN;
	else if (s->depth != other->depth)
		s->depth = -1;
	if (s->reg != other->reg)
		s->reg = RSP;
	s->lr_lost |= other->lr_lost;
}

/* Returns whether the builtin continues a function whose optimised code was undone: the interpreter's frame is
 * there. */
static bool goes_on(const char *name)
{
	return !strncmp(name, PREFIX "InterpreterEnter", strlen(PREFIX "InterpreterEnter")) ||
	       !strncmp(name, PREFIX "BaselineOrInterpreterEnter", strlen(PREFIX "BaselineOrInterpreterEnter"));
}

/* Code from Sparkplug calls one builtin to make its frame, whose RA is then below that code's own RA, and
 * jumps to another builtin to remove the frame. */
static struct state at_entry(const struct follow *f, const char *name)
{
	if (!strcmp(name, PREFIX "BaselineLeaveFrame") || goes_on(name))
		return (struct state){ .kind = FRAME, .depth = -1, .body = -1 };
	if (!f->arm && !strcmp(name, PREFIX "BaselineOutOfLinePrologue"))
		return (struct state){ .kind = NO_FRAME, .reg = RSP, .depth = 16 };
	return (struct state){ .kind = NO_FRAME, .reg = RSP, .depth = f->arm ? 0 : 8 };
}

/* Follows the builtin once. Returns whether a jump backwards has reached code that was followed in an unknown
 * state. within: the builtin has a frame within another one, and fp is the outer one's after it. */
static bool follow_once(struct follow *f, struct state s, bool within)
{
	const struct state around = { .kind = FRAME, .depth = -1, .body = -1 };
	bool reached = true, found = false;
	struct step step;

	for (uint64_t at = 0; at < f->size; at += step.size) {
		struct state *by_jump = &f->at[at];

		if (by_jump->kind != UNKNOWN && reached)
			meet(&s, by_jump);
		else if (!reached)
			s = *by_jump;
		by_jump->passed = s.kind == UNKNOWN;
		eh_row_add(f->rows, f->start + at, rule_of(f, &s));
		step = f->arm ? step_arm(f, at, &s) : step_x86(f, at, &s);
		if (within && s.kind == NO_FRAME)
			s = around;
		reached = !step.ends;
		if (!step.jumps || step.target - f->start >= f->size)
			continue;
		if (s.kind == RA_MOVES && step.target <= f->start + at) { /* the loop has ended */
			s = (struct state){ .kind = NO_FRAME, .reg = RSP, .depth = 8 };
		} else if (s.kind != UNKNOWN) {
			found |= f->at[step.target - f->start].passed;
			f->at[step.target - f->start] = s;
		}
	}
	return found;
}

static void follow_builtin(struct follow *f, const char *name)
{
	size_t before = f->rows->len;

	if (!follow_once(f, at_entry(f, name), goes_on(name)))
		return;
	f->rows->len = before;
	follow_once(f, at_entry(f, name), goes_on(name));
}

/* ---- all builtins ---- */

static int by_vaddr(const void *va, const void *vb)
{
	const struct elf_symbol *a = va, *b = vb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

/* The interpreter's bytecode handlers are part of the function to which fp belongs: without a frame of
 * their own they look like it. */
static bool is_handler(const char *name)
{
	return ends_in(name, "Handler");
}

/* Its frame also has callee-saved registers. */
static bool is_entry(const char *name)
{
	static const char *const names[] = { "JSEntry", "JSConstructEntry", "JSRunMicrotasksEntry" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name + strlen(PREFIX), names[i]))
			return true;
	return false;
}

static void add_builtin(struct follow *f, const char *name, uint64_t start, uint64_t end)
{
	f->start = start;
	f->size = end - start;
	f->bytes = elf_at(f->e, start, f->size);
	if (is_handler(name) || (f->arm && is_entry(name)) || !f->bytes || f->size > BUILTIN_MAX) {
		eh_row_add(f->rows, start, RULE(RULE_LANG, 0, 0, 0, is_handler(name) ? V8_FRAME : 0));
		return;
	}
	memset(f->at, 0, f->size * sizeof(*f->at));
	follow_builtin(f, name);
}

void v8_builtin_rows(struct elf *e, uint64_t start, uint64_t size, struct eh_rows *rows)
{
	_cleanup_(freep) struct elf_symbol *sym = calloc(BUILTINS_MAX, sizeof(*sym));
	static const char *const prefix[] = { PREFIX };
	_cleanup_(code_closep) struct code *code = NULL;
	struct follow f = { .e = e, .arm = elf_machine(e) != EM_X86_64, .rows = rows };
	uint64_t end = start + size, next;
	size_t n;

	eh_row_add(rows, start, RULE(RULE_LANG, 0, 0, 0, 0));
	f.at = calloc(BUILTIN_MAX, sizeof(*f.at));
	if (sym && f.at && (f.arm || !code_open(EM_X86_64, true, &code))) {
		f.code = code;
		n = elf_symbols_starting(e, prefix, 1, sym, BUILTINS_MAX);
		qsort(sym, n, sizeof(*sym), by_vaddr);
		for (size_t i = 0; i < n; i++) {
			next = i + 1 < n && sym[i + 1].vaddr < end ? sym[i + 1].vaddr : end;
			if (sym[i].vaddr >= start && sym[i].vaddr < next)
				add_builtin(&f, sym[i].name, sym[i].vaddr, next);
		}
	}
	free(f.at);
	eh_row_add(rows, end, 0);
}
