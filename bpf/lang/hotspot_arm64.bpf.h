/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_arm64.bpf.h - finds the caller of the interrupted frame on arm64, as hotspot_top.bpf.h does on x86_64. LR has
 * the return address before the frame is made, and again after it is removed. Part of hotspot.bpf.c.
 *
 * (src/hotspot/cpu/aarch64/macroAssembler_aarch64.cpp, aarch64.ad, templateInterpreterGenerator_aarch64.cpp,
 * sharedRuntime_aarch64.cpp, stubGenerator_aarch64.cpp of JDK 8 to 26) */
#pragma once
#include "hotspot_top.bpf.h"

#define FRAME_LAST_SP (-16) /* in an interpreted frame: not 0 while a method that it has called runs */

/* From its return address on, the interpreter restores its registers. */
#define RETURN_REACH 96

#define ARM_PUSH   0xa9bf7bfdU /* stp x29, x30, [sp, #-16]! */
#define ARM_POP    0xa8c17bfdU /* ldp x29, x30, [sp], #16 */
#define ARM_MOV_FP 0x910003fdU /* mov x29, sp */
#define ARM_MOV_SP 0x910003bfU /* mov sp, x29 */
#define ARM_RET    0xd65f03c0U

/* Returns whether compiled code has put two words on the stack for a call of C++: 0, and the return address
 * (aarch64_enc_java_to_runtime() in aarch64.ad). */
static __always_inline int has_breadcrumb(struct walk *w)
{
	__u64 zero = 1, ra = 0;

	return WALK_ARM64(w) && !walk_word(w, w->sp, &zero) && !zero && !walk_word(w, w->sp + 8, &ra) &&
	       strip(w, ra) - w->pc <= 4;
}

#if defined(STRATA_HOST) || defined(__TARGET_ARCH_arm64)

/* Returns the address of the blob that contains pc, or 0 if there is none. */
__global __u64 hotspot_find(struct hotspot_scratch *s, __u64 pc)
{
	return s ? find_blob(s, pc) : 0;
}

/* Returns a bit for each instruction of insns[] that has these bits, the first one lowest. */
static __always_inline __u64 insns_are(const volatile __u32 *insns, __u32 mask, __u32 value)
{
	__u64 ret = 0;

	for (int i = 0; i < HOTSPOT_INSNS; i++)
		ret |= same(insns[i], mask, value) << i;
	return ret;
}

#define INSN_AT 2 /* the instruction at pc, in insns[] */
#define ALL_AHEAD (HOTSPOT_INSNS - INSN_AT)

/* The frame is made by sub sp, sp, #N; stp x29, x30, [sp, #N-16]. A large one, and one of a native method, by
 * ARM_PUSH; sub sp, sp, #N. */
static __always_inline int arm64_prologue(const volatile __u32 *insns, __u64 left)
{
	__u64 ahead = left < ALL_AHEAD ? (1ULL << left) - 1 : (1ULL << ALL_AHEAD) - 1, push, store, sub;

	push = insns_are(insns, ~0U, ARM_PUSH) >> INSN_AT & ahead;
	store = insns_are(insns, 0xffc07fff, 0xa9007bfd) >> INSN_AT & ahead;
	sub = (insns_are(insns, 0xff8003ff, 0xd10003ff) | insns_are(insns, ~0U, 0xcb2863ff)) >> INSN_AT & ahead;
	if (push || (sub && store))
		return TOP_CALLED;
	if (store)
		return TOP_SIZED_NOW;
	if (sub)
		return TOP_PUSHED;
	return left > ALL_AHEAD ? TOP_CALLED : TOP_WHOLE;
}

/* Returns whether the code comes to ret, and does not remove a frame before. */
static __always_inline int arm64_returns(const volatile __u32 *insns)
{
	__u64 ret = insns_are(insns, ~0U, ARM_RET) >> INSN_AT & 0xff, stops;

	stops = insns_are(insns, 0xfe407fff, 0xa8407bfd) |                                     /* ldp x29, x30, .. */
		insns_are(insns, 0xff8003ff, 0x910003ff) | insns_are(insns, ~0U, 0x8b2863ff) | /* add sp, sp, .. */
		insns_are(insns, ~0U, ARM_MOV_SP) |
		insns_are(insns, 0x7c000000, 0x14000000) | insns_are(insns, 0xff9ffc1f, 0xd61f0000); /* jumps, calls */
	return ret && !(stops >> INSN_AT & ((ret & -ret) - 1));
}

/* Code behind a method, to which the poll at its end jumps: adr x8, ..; str x8, [x28, ..]; b, or adrp. */
static __always_inline int arm64_polls(const volatile __u32 *insns)
{
	__u64 adr = insns_are(insns, 0x9f00001f, 0x10000008), str = insns_are(insns, 0xffc003ff, 0xf9000388), jump;

	jump = insns_are(insns, 0xfc000000, 0x14000000) | insns_are(insns, 0x9f000000, 0x90000000);
	return (adr & str >> 1 & jump >> 2 & 7) != 0;
}

/* Returns whether two words are pushed around a call, which the code pops before it pushes others. */
static __always_inline int arm64_has_pushed(const volatile __u32 *insns)
{
	__u64 frame = insns_are(insns, ~0U, ARM_POP), pops, stops;

	pops = (insns_are(insns, A64_PAIR_MASK, A64_POP_PAIR) & ~frame) >> INSN_AT & 0x3f;
	stops = frame | insns_are(insns, A64_PAIR_MASK, A64_PUSH_PAIR) | insns_are(insns, 0xfc000000, 0x14000000) |
		insns_are(insns, 0xff9ffc1f, 0xd61f0000);
	return pops && !(stops >> INSN_AT & ((pops & -pops) - 1));
}

/* Finds the position of an interrupted method in its prologue or epilogue, by its code. */
__global int hotspot_around_arm64(struct walk *w, struct hotspot_scratch *s)
{
	const volatile __u32 *insns;
	__u64 reach, from, popped, loaded, added;

	if (!w || !s)
		return TOP_WHOLE;
	insns = s->insns;
	reach = w->pc - s->blob.code;
	from = w->pc - 4 * INSN_AT;
	if (bpf_probe_read_user(s->insns, sizeof(s->insns), (void *)from)) {
		__builtin_memset(s->insns, 0, sizeof(s->insns));
		if (bpf_probe_read_user(s->insns, 4 * INSN_AT + 16, (void *)from))
			return TOP_WHOLE;
	}
	if (reach < s->blob.complete)
		return arm64_prologue(insns, (s->blob.complete - reach) / 4);
	popped = insns_are(insns, ~0U, ARM_POP);
	loaded = insns_are(insns, 0xffc07fff, 0xa9407bfd); /* ldp x29, x30, [sp, ..] */
	added = insns_are(insns, 0xff8003ff, 0x910003ff);
	if (popped >> INSN_AT & 1)
		return TOP_PUSHED;
	if ((popped >> (INSN_AT - 1) & 1) || (loaded & added >> 1 & 1))
		return TOP_CALLED;
	if (arm64_returns(insns) || arm64_polls(insns))
		return TOP_CALLED;
	return arm64_has_pushed(insns) ? TOP_COPIES : TOP_WHOLE;
}

static __always_inline void step_to_lr(struct walk *w, struct hotspot_place *f, __u64 sp)
{
	f->step = STEP_GIVEN;
	f->to_pc = strip(w, w->lr);
	f->to_sp = sp;
}

/* Returns whether LR is in the code cache, and in another blob than pc. */
static __always_inline int lr_is_outside(struct walk *w, struct hotspot_scratch *s)
{
	__u64 at = hotspot_find(s, strip(w, w->lr));

	return at && at != s->blob.at;
}

static __always_inline void arm64_sized(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int state = hotspot_in_cache(s, strip(w, w->lr)) ? hotspot_around_arm64(w, s) : TOP_WHOLE;

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (state == TOP_CALLED) {
		step_to_lr(w, f, w->sp);
	} else if (state == TOP_SIZED_NOW) {
		step_to_lr(w, f, w->sp + f->size);
	} else if (state == TOP_PUSHED) {
		f->step = STEP_TOP;
		f->size = 8;
	} else if (state == TOP_COPIES || has_breadcrumb(w)) {
		f->size += 16;
	}
}

/* Stubs have a frame pointer, or no frame. */
static __always_inline void arm64_stub(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 lr = strip(w, w->lr), fp = 0, ra = 0;
	int state = hotspot_around_arm64(w, s);
	__u32 op = 0;

	f->size = s->blob.size;
	f->step = f->size ? STEP_SIZE : STEP_FP;
	read_u32(w->pc, &op);
	/* C++ calls short ones without a frame for each atomic operation. */
	if (op == ARM_PUSH || state == TOP_CALLED) {
		step_to_lr(w, f, w->sp);
		return;
	}
	if (op == ARM_MOV_FP || state == TOP_PUSHED ||
		(!walk_word(w, w->sp, &fp) && fp == w->fp && hotspot_code(w, s, w->sp + 8) == lr)) {
		f->step = STEP_TOP;
		f->size = 8;
		return;
	}
	ra = w->fp - w->sp < HOTSPOT_LOCALS_MAX ? hotspot_code(w, s, w->fp + 8) : 0;
	if (!lr_is_outside(w, s)) {
		if (f->size && ra && !hotspot_code(w, s, w->sp + f->size - 8))
			f->step = STEP_FP;
	} else if (!f->size || hotspot_code(w, s, w->sp + f->size - 8) != lr) {
		f->step = STEP_FP;
		if (ra == lr)
			return;
		step_to_lr(w, f, w->sp);
		for (int i = 0; i < 4 && !fits(w, s, lr, f->to_sp); i++) /* it has pushed registers */
			f->to_sp += 16;
	}
}

/* Returns the caller's sp, from the register in which its code or an adapter has put it: x19, or x13 in older versions,
 * or from that of the interpreter's stack. */
static __always_inline __u64 arm64_sender(struct walk *w, struct hotspot_scratch *s)
{
	__u64 lr = strip(w, w->lr), sender = w->regs[RULE_REG_R13];

	if (is_near(sender, w->sp) && fits(w, s, lr, sender))
		return sender;
	sender = w->regs[RULE_REG_X19];
	if (is_near(sender, w->sp) && fits(w, s, lr, sender))
		return sender;
	sender = w->regs[RULE_REG_X20];
	return is_near(sender, w->sp) && !fits(w, s, lr, w->sp) && fits(w, s, lr, sender) ? sender : w->sp;
}

/* Returns whether the interrupted method has no frame: before it is made, or after it was removed. LR has the address
 * in the caller; in the interpreter's own code, it may also be that of an earlier call. */
static __always_inline int arm64_unframed(struct walk *w, struct hotspot_scratch *s)
{
	__u64 lr = strip(w, w->lr), last = 0;

	if (!hotspot_in_cache(s, lr))
		return 0;
	if (lr_is_outside(w, s))
		return (w->fp & 7) || w->fp - w->sp >= HOTSPOT_FRAME_MAX || hotspot_code(w, s, w->fp + 8) != lr;
	return w->pc - lr >= RETURN_REACH && !(w->fp & 7) && w->fp - w->sp < HOTSPOT_FRAME_MAX &&
	       !walk_word(w, w->fp + FRAME_LAST_SP, &last) && last;
}

/* In the interpreter x12 is the Method, and x22 its bcp; at a method's entry x22 is still the caller's. */
static __always_inline void arm64_interpreter(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 method = w->regs[RULE_REG_X12], bcp = w->regs[RULE_REG_X22];
	__u32 k;

	f->step = STEP_FP;
	if (!(w->flags & WALK_REGS)) {
		hotspot_interpreted(w, s, 0);
		return;
	}
	if (!arm64_unframed(w, s)) {
		hotspot_interpreted(w, s, w->pc - strip(w, w->lr) < RETURN_REACH ? 0 : bcp);
		return;
	}
	step_to_lr(w, f, arm64_sender(w, s));
	k = hotspot_bytecode(s, method, bcp);
	if (k & HOTSPOT_MEMO)
		k = hotspot_bytecode(s, method, 0);
	if (!(k & HOTSPOT_MEMO))
		set_bytecode(s, f, k, method);
}

static __always_inline void top_arm64(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	if (s->blob.sort == SORT_INTERPRETER)
		arm64_interpreter(w, s, f);
	else if (s->blob.sort == SORT_SIZED && f->kind != HOTSPOT_STUB)
		arm64_sized(w, s, f);
	else if (s->blob.sort == SORT_JUMP)
		step_to_lr(w, f, w->sp);
	else if (s->blob.sort == SORT_ADAPTER)
		step_to_lr(w, f, arm64_sender(w, s));
	else
		arm64_stub(w, s, f);
}

#else

static __always_inline void top_arm64(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
}

#endif
