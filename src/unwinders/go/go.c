// SPDX-License-Identifier: Apache-2.0
/* go.c - the rules of Go's functions.
 *
 * x86_64: Go has no .eh_frame. For every instruction, pclntab gives the distance of sp below its value at the
 * function's entry. The code shows whether the caller's rbp is saved, in the word below the return address:
 * the prologues of assembler and compiler are "push %rbp" (Go 1.21 on, as the first instruction) or "mov
 * %rbp,N-8(%rsp)" after the instruction that moves sp. arm64: since 1.21 frame pointers are reliable, and one
 * row says how to unwind a whole function; before, rows are made as on x86_64. A few functions of the runtime
 * move to another stack; a flag or their name identifies them: src/runtime/asm_amd64.s, asm_arm64.s, stubs.go
 * and runtime2.go of go1.17 to go1.27.0. */
#include "go.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "bpf/lib/insn.h"
#include "goid.h"
#include "target/elf.h"
#include "target/pclntab.h"
#include "unwinders/native/cfi.h"
#include "unwinders/native/ehframe.h"

#define ROWS_MAX (1u << 24)

#define RULE_BY_FP RULE(RULE_CFA, RULE_REG_FP, 0, -2, 16)

struct builder {
	struct elf *e;
	const struct pclntab *tab;
	struct eh_rows rows;
	struct goid where; /* place of g, for the rules that need it */
	unsigned version;
	bool alternate; /* see RULE_ALTERNATE */
};

static void add_row(struct builder *b, uint64_t vaddr, uint64_t rule)
{
	if (b->rows.len < ROWS_MAX)
		eh_row_add(&b->rows, vaddr, rule);
}

/* ---- special functions ---- */

enum special {
	ORDINARY,
	END,         /* the stack ends: the caller is a scheduler's other life, or nothing */
	BY_SP,       /* called by code that is not Go's */
	BY_FP,       /* rbp's chain continues after sp has moved to another stack */
	INTERRUPTED, /* the runtime makes it look called by the code that it interrupted */
	SIGNAL,
	LEAVING,     /* moves to another stack: mcall, gogo */
	SCHEDULED,   /* systemstack */
	GROWING,     /* morestack */
	CGOCALL,     /* asmcgocall */
};

struct known {
	const char *name;
	enum special what;
};

/* runtime/asm_GOARCH.s, sys_linux_GOARCH.s, preempt_GOARCH.s */
static const struct known known[] = {
	{ "_rt0_amd64", END },
	{ "_rt0_amd64_linux", END },
	{ "_rt0_arm64_linux", END },
	{ "runtime.mcall", LEAVING },
	{ "runtime.gogo", LEAVING },
	{ "gogo", LEAVING },
	{ "runtime.morestack", GROWING },
	{ "runtime.systemstack", SCHEDULED },
	{ "runtime.asmcgocall", CGOCALL },
	{ "runtime.cgocallback", BY_FP },
	{ "runtime.asyncPreempt", INTERRUPTED },
	{ "runtime.asyncPreempt2", ORDINARY },
	{ "runtime.sigpanic", INTERRUPTED },
	{ "runtime.sigpanic0", INTERRUPTED },
	{ "runtime.debugCallV2", INTERRUPTED },
	{ "runtime.sigtramp", BY_SP }, /* has the flag of a thread's first function */
	{ "runtime.sigreturn", SIGNAL },
	{ "runtime.sigreturn__sigaction", SIGNAL },
};

static enum special special_of(const struct pcln_function *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(f->name, known[i].name))
			return known[i].what;
	if (f->flags & PCLN_TOP_FRAME)
		return END;
	return f->flags & PCLN_SP_WRITE ? BY_FP : ORDINARY;
}

/* ---- x86_64 ---- */

/* Returns the length of "mov %rbp,disp(%rsp)" at p: 48 89 2c 24 (no disp), 48 89 6c 24 d8, 48 89 ac 24 d32; else 0. */
static unsigned saves_rbp(const uint8_t *p, int32_t disp)
{
	int32_t d;

	if (p[0] != 0x48 || p[1] != 0x89 || p[3] != 0x24)
		return 0;
	if (p[2] == 0x2c)
		return disp ? 0 : 4;
	if (p[2] == 0x6c)
		return (int8_t)p[4] == disp ? 5 : 0;
	if (p[2] != 0xac)
		return 0;
	memcpy(&d, p + 4, sizeof(d));
	return d == disp ? 8 : 0;
}

struct frame_state {
	int32_t delta;
	bool saved;    /* rbp is saved at CFA-16 */
	int32_t frame; /* the delta from which on saved holds */
};

static uint64_t by_sp(const struct frame_state *s, unsigned flags)
{
	bool saved = s->saved && s->delta >= s->frame;

	return RULE(RULE_CFA, RULE_REG_SP, flags, saved ? -2 : 0, s->delta + 8);
}

/* Returns the address in [start, end) from which on sp does not count, because rbp is set and the code moves sp.
 * It is after "mov %rsp,%rbp" (3 bytes), or after the store and "lea N-8(%rsp),%rbp", which have the same length. */
static uint64_t rbp_is_set(const struct frame_state *s, const struct pcln_values *v, unsigned store)
{
	if (!s->saved || s->delta < s->frame)
		return v->end;
	return v->start + (!store && s->frame == 8 && s->delta == 8 ? 3 : 2 * store);
}

/* Returns the address at which rbp is the caller's again before sp is, by "mov N-8(%rsp),%rbp; add $N,%rsp"
 * at the end, or the end if this is not there. */
static uint64_t rbp_is_restored(struct builder *b, const struct pcln_values *v)
{
	const uint8_t *code = v->end - v->start > 9 ? elf_at(b->e, v->end - 9, 9) : NULL;
	bool restored = code && !memcmp(code, "\x48\x8b\x6c\x24", 4) && !memcmp(code + 5, "\x48\x83\xc4", 3);

	return restored ? v->end - 4 : v->end;
}

/* Adds one piece of a function: sp is v->value below its entry value in [v->start, v->end). */
static void add_x86_piece(struct builder *b, const struct pcln_values *v, enum special what,
	struct frame_state *s)
{
	const uint8_t *code = elf_at(b->e, v->start - 1, 10);
	unsigned flags = what == INTERRUPTED ? RULE_EXACT : 0, store = 0;
	bool pushed = code && code[0] == 0x55 && !s->delta && v->value == 8;
	uint64_t at = v->start;

	s->delta = v->value;
	if (!s->saved && code && !pushed && v->value >= 8)
		store = saves_rbp(code + 1, v->value - 8);
	if (store) { /* only after the first instruction */
		add_row(b, at, by_sp(s, flags));
		at += store;
	}
	if (pushed || store) {
		s->saved = true;
		s->frame = v->value;
	}
	if (at < v->end)
		add_row(b, at, by_sp(s, flags));
	at = what == BY_FP ? rbp_is_set(s, v, store) : v->end;
	if (at >= v->end)
		return;
	add_row(b, at, RULE_BY_FP);
	at = rbp_is_restored(b, v);
	if (at < v->end)
		add_row(b, at, by_sp(s, flags));
}

static void add_x86(struct builder *b, const struct pcln_function *f, enum special what)
{
	struct frame_state s = {};
	struct pcln_values v;

	pclntab_sp(b->tab, f, &v);
	while (pclntab_next(&v) && v.start < f->end && b->rows.len < ROWS_MAX) {
		if (v.end > f->end)
			v.end = f->end;
		if (v.value >= 0 && v.value < 1 << 30)
			add_x86_piece(b, &v, what, &s);
	}
}

/* Sets the rule for [start, end), replacing rows there. */
static void put_rule(struct builder *b, uint64_t start, uint64_t end, uint64_t rule)
{
	_cleanup_(eh_rows_done) struct eh_rows tail = {};
	uint64_t after = 0;

	if (start >= end)
		return;
	while (b->rows.len && b->rows.data[b->rows.len - 1].vaddr >= start)
		vec_push(&tail, b->rows.data[--b->rows.len]);
	if (b->rows.len)
		after = b->rows.data[b->rows.len - 1].rule;
	add_row(b, start, rule);
	while (tail.len && tail.data[tail.len - 1].vaddr <= end)
		after = tail.data[--tail.len].rule;
	add_row(b, end, after);
	for (size_t i = tail.len; i--;)
		add_row(b, tail.data[i].vaddr, tail.data[i].rule);
}

/* ---- known instructions ---- */

struct code {
	const uint8_t *p;
	size_t size;
	uint64_t vaddr;
};

static struct code code_of(struct builder *b, const struct pcln_function *f)
{
	size_t size = f->end - f->start < 4096 ? (size_t)(f->end - f->start) : 4096;

	return (struct code){ elf_at(b->e, f->start, size), size, f->start };
}

/* Returns the address after the bytes, or 0 if they are not found. */
static uint64_t behind(struct code c, const char *bytes, size_t n)
{
	const uint8_t *found = c.p ? memmem(c.p, c.size, bytes, n) : NULL;

	return found ? c.vaddr + (uint64_t)(found - c.p) + n : 0;
}

static struct code rest_of(struct code c, uint64_t vaddr)
{
	size_t n = vaddr && c.p ? (size_t)(vaddr - c.vaddr) : c.size;

	return (struct code){ c.p + n, c.size - n, c.vaddr + n };
}

#define BEHIND(c, bytes) behind(c, bytes, sizeof(bytes) - 1)

/* The caller is the goroutine, continued from its gobuf. bp: offset in struct g of the saved rbp; 0: rbp is
 * unchanged. Ends the stack if g's place is unknown. */
static uint64_t by_gobuf(const struct builder *b, int bp)
{
	struct goid w = b->where;

	if (!w.tls || w.tls != (int16_t)w.tls || !w.curg)
		return RULE(RULE_END, 0, 0, 0, 0);
	return RULE(RULE_GOBUF, 0, 0, bp, (uint32_t)w.curg << 16 | (uint16_t)w.tls);
}

/* gogo: mov gobuf_sp(%rbx),%rsp; mcall: mov g_sched+gobuf_sp(%r14),%rsp, before 1.21 (%rsi) */
static void add_leaving(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t moved = BEHIND(c, "\x48\x8b\x23");

	if (!moved)
		moved = BEHIND(c, "\x49\x8b\x66\x38");
	if (!moved)
		moved = BEHIND(c, "\x48\x8b\x66\x38");
	add_x86(b, f, ORDINARY);
	if (moved)
		put_rule(b, moved, f->end, RULE(RULE_END, 0, 0, 0, 0));
}

/* The compiler's own frame is valid until code sets sp from g0's gobuf. */
static void add_morestack(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t moved = BEHIND(c, "\x48\x8b\x63\x38"); /* mov g_sched+gobuf_sp(%rbx),%rsp */
	uint64_t bp = BEHIND(c, "\x48\x89\x6e");        /* mov %rbp,g_sched+gobuf_bp(%rsi) */

	if (!bp)
		bp = BEHIND(c, "\x48\x89\x6f");
	add_x86(b, f, ORDINARY);
	if (moved && bp)
		put_rule(b, moved, f->end, by_gobuf(b, c.p[bp - c.vaddr]));
}

/* From 1.21 on it saves rbp, whose chain continues. */
static void add_systemstack(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t moved = BEHIND(c, "\x48\x89\xdc");        /* mov %rbx,%rsp */
	uint64_t back = BEHIND(c, "\x48\x8b\x60\x38");    /* mov g_sched+gobuf_sp(%rax),%rsp */

	if (!c.p || c.p[0] == 0x55 || !moved || back < moved) {
		add_x86(b, f, BY_FP);
		return;
	}
	add_row(b, f->start, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8));
	add_row(b, moved, by_gobuf(b, 0));
	add_row(b, back, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8));
}

/* The function has two calls, one on g0's stack and one on the same stack. There, g and the distance of the
 * old sp from g's stack.hi are at sp. rbp does not help: its stack may have moved by the time C calls back,
 * and the copy that C has saved does not change. */
static void add_asmcgocall(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	bool old = c.p && c.p[0] != 0x55; /* before 1.21: call *%rax, rbp is not saved */
	uint64_t rule = old ? RULE(RULE_CGOCALL, 0, 0, 0, 40 << 16 | 48) :
		RULE(RULE_CGOCALL, 0, RULE_RA_SLOT, 0, 8);

	add_x86(b, f, ORDINARY);
	for (int i = 0; i < 2 && c.p; i++) {
		/* and $-16,%rsp comes first; mov %rsi,%rsp is the way back */
		uint64_t aligned = BEHIND(c, "\x48\x83\xe4\xf0"), call, back;

		c = rest_of(c, aligned);
		call = old ? BEHIND(c, "\xff\xd0") : BEHIND(c, "\xe8");
		back = BEHIND(c, "\x48\x89\xf4");
		if (!aligned || !call || back < call)
			return;
		put_rule(b, old ? call - 2 : call - 1, back, rule);
		c = rest_of(c, back);
	}
}

/* ---- arm64 ---- */

#define STUR_X29 0xf81f83fdu /* stur x29, [sp, #-8]: the prologue stores x29 after LR */
#define LDUR_X29 0xf85f83fdu /* ldur x29, [sp, #-8]: the epilogue loads x29 before LR */
#define LDP_X29  0xa97ffbfdu /* ldp x29, x30, [sp, #-8]: the epilogue loads both, if the frame is large or Go is old */

static uint32_t op_at(const struct builder *b, uint64_t vaddr)
{
	const uint8_t *code = elf_at(b->e, vaddr, sizeof(uint32_t));
	uint32_t op = 0;

	if (code)
		memcpy(&op, code, sizeof(op));
	return op;
}

/* The record {fp, LR} is just below sp. A piece begins after an instruction that moves sp, when LR or the
 * whole record is written; or after a return within the function, where the epilogue is done. */
static void add_arm64_piece(struct builder *b, const struct pcln_values *v, enum special what)
{
	unsigned flags = what == INTERRUPTED ? RULE_EXACT : 0;
	int n = v->value;
	uint64_t saved = RULE(RULE_CFA, RULE_REG_SP, RULE_RA_SLOT | flags, -n / 8 - 1, n);
	uint64_t at = v->start;

	if (!n) {
		add_row(b, at, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG | flags, 0, 0));
		return;
	}
	if (op_at(b, at) == STUR_X29) {
		add_row(b, at, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_ONLY | flags, -n / 8, n));
		at += 4;
	}
	if (at >= v->end)
		return;
	add_row(b, at, saved);
	if (what != BY_FP)
		return;
	/* The prologue's last instruction sets fp, and fp is the caller's before the piece's last instruction. */
	at += 4;
	if (at + 4 >= v->end)
		return;
	add_row(b, at, RULE(RULE_CFA, RULE_REG_FP, RULE_RA_SLOT | flags, -n / 8 - 1, n + 8));
	if (op_at(b, v->end - 8) == LDUR_X29 || op_at(b, v->end - 8) == LDP_X29)
		add_row(b, v->end - 4, saved);
}

static void add_arm64(struct builder *b, const struct pcln_function *f, enum special what)
{
	struct pcln_values v;

	pclntab_sp(b->tab, f, &v);
	while (pclntab_next(&v) && v.start < f->end && b->rows.len < ROWS_MAX) {
		if (v.end > f->end)
			v.end = f->end;
		if (v.value >= 0 && v.value < 1 << 18 && !(v.value & 15))
			add_arm64_piece(b, &v, what);
	}
}

/* C's frame record is at the top of this frame, not in Go's place: SUB $192,RSP; STP (R29, R30), 176(RSP). */
static void add_crosscall2(struct builder *b, const struct pcln_function *f)
{
	struct pcln_values v;

	pclntab_sp(b->tab, f, &v);
	while (pclntab_next(&v) && v.start < f->end)
		add_row(b, v.start, v.value == 192 ? RULE(RULE_CFA, RULE_REG_SP, RULE_RA_SLOT, -2, 192) :
			RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 0));
}

/* At blr x1, g and the distance of the old sp from its stack.hi are at sp, which is g0's. */
static void add_asmcgocall_arm64(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t call;

	add_arm64(b, f, ORDINARY);
	for (int i = 0; i < 2 && c.p && (call = BEHIND(c, "\x20\x00\x3f\xd6")); i++) {
		put_rule(b, call - 4, call, RULE(RULE_CGOCALL, 0, RULE_RA_SLOT, -1, 8 << 16));
		c = rest_of(c, call);
	}
}

/* All of the goroutine's registers are in g.sched, where g is m.curg, and x28 is g0. */
static uint64_t by_sched_arm64(const struct builder *b)
{
	bool old = b->version && b->version < 125;
	int bp = old ? 104 : 96, curg = old ? 192 : 184; /* gobuf.bp in g, m.curg */

	return RULE(RULE_GOBUF, 0, 0, bp, (uint32_t)curg << 16);
}

/* bl runtime.newstack is the last instruction before a trap. */
static void add_morestack_arm64(struct builder *b, const struct pcln_function *f)
{
	add_arm64(b, f, ORDINARY);
	put_rule(b, f->start + (f->end - f->start) / 2, f->end, by_sched_arm64(b));
}

/* Returns the address of the first word from vaddr on that equals `word` under the mask, or 0 if there is none. */
static uint64_t word_at(struct code c, uint64_t vaddr, uint32_t word, uint32_t mask)
{
	uint32_t v;

	for (size_t at = vaddr - c.vaddr; c.p && at + 4 <= c.size; at += 4) {
		memcpy(&v, c.p + at, sizeof(v));
		if ((v & mask) == word)
			return c.vaddr + at;
	}
	return 0;
}

/* Older versions load fp from g0's gobuf when sp is g0's, while the goroutine's fp is in its own gobuf. Newer
 * versions do not change fp. */
static void add_systemstack_arm64(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t moved = word_at(c, f->start, 0x9100007f, UINT32_MAX);             /* mov sp, x3 */
	uint64_t back = moved ? word_at(c, moved, 0x9100001f, UINT32_MAX) : 0;     /* mov sp, x0 */
	uint64_t fp = moved ? word_at(c, moved, 0xf940039d, 0xffc003ffu) : 0; /* ldr x29, [x28, #..] */
	uint64_t call = moved ? word_at(c, moved, 0xd63f0060, UINT32_MAX) : 0;     /* blr x3 */

	add_arm64(b, f, BY_FP);
	if (fp && fp < call && call < back && b->where.curg)
		put_rule(b, moved + 4, back + 4, RULE(RULE_GOBUF, 0, 0, 0, (uint32_t)b->where.curg << 16));
}

/* Returns the size of the function's frame outside of its prologue and epilogue. */
static int32_t frame_size(struct builder *b, const struct pcln_function *f)
{
	struct pcln_values v;
	int32_t size = 0;

	pclntab_sp(b->tab, f, &v);
	while (pclntab_next(&v) && v.start < f->end)
		if (v.value > size && v.value < 1 << 30 && !(v.value & 15))
			size = v.value;
	return size;
}

/* mcall and gogo have their caller's frame until they call save_g, which loses LR. mcall has saved the state
 * by then: it is in g.sched, and m.curg remains that g until the function on g0 changes it. gogo has not: its
 * caller is unknown, and it never returns there. */
static void add_leaving_arm64(struct builder *b, const struct pcln_function *f)
{
	struct code c = code_of(b, f);
	uint64_t call = word_at(c, f->start, 0x94000000u, 0xfc000000u);        /* bl */
	uint64_t moved = call ? word_at(c, call, 0x9100001f, UINT32_MAX) : 0; /* mov sp, x0 */

	add_row(b, f->start, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 0));
	if (!call)
		return;
	if (moved && !strcmp(f->name, "runtime.mcall"))
		add_row(b, call + 4, by_sched_arm64(b));
	else
		moved = call;
	add_row(b, moved + 4, RULE(RULE_END, 0, 0, 0, 0));
}

/* Returns whether the function needs a row for each piece. If it calls itself, or any function by register, LR says
 * nothing in its first and last instructions; and one row has only one depth. */
static bool needs_pieces(struct builder *b, const struct pcln_function *f)
{
	const uint8_t *code = elf_at(b->e, f->start, f->end - f->start);
	int32_t size = frame_size(b, f);
	struct pcln_values v;

	for (uint64_t at = 0; code && at + 4 <= f->end - f->start; at += 4) {
		uint32_t op;

		memcpy(&op, code + at, sizeof(op));
		if (A64_IS_BLR(op))
			return true;
		if (A64_IS_BL(op) && !((((uint64_t)op << 2) + at) & 0xfffffff))
			return true;
	}
	pclntab_sp(b->tab, f, &v);
	while (pclntab_next(&v) && v.start < f->end)
		if (v.value && v.value != size)
			return true;
	return false;
}

static void add_function_arm64(struct builder *b, const struct pcln_function *f, enum special what)
{
	/* Older versions leave wrong frame pointers behind when a stack moves. */
	bool old = b->version && b->version < 121;

	if (what == CGOCALL) {
		add_asmcgocall_arm64(b, f);
	} else if (what == GROWING) {
		add_morestack_arm64(b, f);
	} else if (what == LEAVING) {
		add_leaving_arm64(b, f);
	} else if (what == SCHEDULED) {
		add_systemstack_arm64(b, f);
	} else if (!strcmp(f->name, "crosscall2")) {
		add_crosscall2(b, f);
	} else if (what != ORDINARY || old || needs_pieces(b, f)) {
		add_arm64(b, f, what);
	} else {
		b->alternate = !b->alternate;
		add_row(b, f->start, RULE(RULE_GO, 0, b->alternate ? RULE_ALTERNATE : 0, 0, frame_size(b, f)));
	}
}

/* ---- a file ---- */

static void add_function_x86(struct builder *b, const struct pcln_function *f, enum special what)
{
	if (what == SCHEDULED)
		add_systemstack(b, f);
	else if (what == GROWING)
		add_morestack(b, f);
	else if (what == CGOCALL)
		add_asmcgocall(b, f);
	else if (what == LEAVING)
		add_leaving(b, f);
	else
		add_x86(b, f, what);
}

static void add_function(struct builder *b, const struct pcln_function *f)
{
	enum special what = special_of(f);

	if (what == END)
		add_row(b, f->start, RULE(RULE_END, 0, 0, 0, 0));
	else if (what == SIGNAL) /* it is returned to, so the lookup address is one byte before it */
		put_rule(b, f->start - 1, f->end, RULE(RULE_SIGNAL, 0, 0, 0, 0));
	else if (elf_machine(b->e) == EM_AARCH64)
		add_function_arm64(b, f, what);
	else
		add_function_x86(b, f, what);
}

static void add_functions(struct builder *b)
{
	size_t n = pclntab_functions(b->tab);
	struct pcln_function f;
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (!pclntab_function(b->tab, i, &f) || f.start < end)
			continue;
		if (end && f.start > end)
			add_row(b, end, 0);
		add_function(b, &f);
		end = f.end;
	}
	if (end)
		add_row(b, end, 0);
}

int go_rules(struct elf *e, struct eh_rows *rows)
{
	_cleanup_(pclntab_closep) struct pclntab *tab = NULL;
	struct builder b = { .e = e };
	int err;

	err = pclntab_open(e, &tab);
	if (err)
		return err;
	b.tab = tab;
	b.version = pclntab_version(tab);
	b.where = goid_find(e, tab);
	add_functions(&b);
	if (b.rows.len)
		eh_rows_replace(rows, &b.rows);
	eh_rows_done(&b.rows);
	return 0;
}

/* Sets the range of Go's code, from the first function to the end of the last, and the
 * place of goroutines' numbers. */
int go_table(struct elf *e, struct table_header *hdr)
{
	_cleanup_(pclntab_closep) struct pclntab *tab = NULL;
	struct pcln_function first, last;
	int err = pclntab_open(e, &tab);
	struct go_table own;
	struct goid where;

	if (err)
		return err;
	if (!pclntab_function(tab, 0, &first) ||
		!pclntab_function(tab, pclntab_functions(tab) - 1, &last) ||
		first.start < hdr->base || last.end - hdr->base > UINT32_MAX || last.end < first.start)
		return -ENOEXEC;
	hdr->code_start = (uint32_t)(first.start - hdr->base);
	hdr->code_end = (uint32_t)(last.end - hdr->base);
	where = goid_find(e, tab);
	own = (struct go_table){ where.tls, where.curg, where.goid };
	memcpy(hdr->own, &own, sizeof(own));
	hdr->flags |= TABLE_LANG(FRAME_LANG_GO);
	return 0;
}
