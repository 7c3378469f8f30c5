/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_top.bpf.h - the frame that was interrupted in code that HotSpot made: it may not have its frame yet, or no
 * longer. Part of hotspot.bpf.c.
 *
 * (src/hotspot/cpu/x86/macroAssembler_x86.cpp, templateInterpreterGenerator_x86.cpp, sharedRuntime_x86_64.cpp,
 * stubGenerator_x86_64.cpp of JDK 8 to 26) */
#pragma once
#include "hotspot_blob.bpf.h"

__u32 hotspot_at(struct hotspot_scratch *s, __u64 pc);

#define BEFORE 32 /* bytes of chunk[] before pc */

/* States of a frame of known size. */
enum { TOP_WHOLE = -1, TOP_CALLED = 0, TOP_PUSHED = 1, TOP_SIZED_NOW = 2, TOP_COPIES = 3 };

static __always_inline int is3(const __u8 *b, __u8 x, __u8 y, __u8 z)
{
	return b[0] == x && b[1] == y && b[2] == z;
}

/* Returns whether add $N,%rsp; pop %rbp come before. */
static __always_inline int is_popped(const __u8 *b)
{
	return b[-1] == 0x5d && (is3(b - 5, 0x48, 0x83, 0xc4) || is3(b - 8, 0x48, 0x81, 0xc4));
}

/* ret; pop %rbp; then the poll of a safepoint, which has one form in 17 and later (cmp; ja), one in 11, and one in 8;
 * or the code that the poll jumps to. C2 copies words of the stack by push and pop. */
static __always_inline int epilogue_x86(const __u8 *b)
{
	if ((b[0] == 0x48 && b[1] == 0x8f) || (b[0] == 0x8f && !(b[1] & 0x38)))
		return TOP_COPIES;
	if (b[0] == 0x5d)
		return TOP_PUSHED;
	if (is_popped(b))
		return TOP_CALLED;
	if (b[0] == 0xc3 || is3(b, 0x49, 0x3b, 0x67) || is3(b, 0x49, 0x3b, 0xa7)) {
		if (b[0] == 0xc3 || b[-1] == 0x5d)
			return TOP_CALLED;
	}
	if ((b[0] == 0x0f && b[1] == 0x87 && b[6] == 0xc3) || (b[0] == 0x85 && b[1] == 5 && b[6] == 0xc3))
		return TOP_CALLED;
	if ((is3(b, 0x41, 0x85, 2) && b[3] == 0xc3) ||
		(is3(b, 0x4d, 0x8b, 0x97) && is3(b + 7, 0x41, 0x85, 2) && b[10] == 0xc3))
		return TOP_CALLED;
	/* Behind the method: mov $Method,%rbx; jmp, to which it calls interpreted methods. */
	if ((b[0] == 0x48 && b[1] == 0xbb && b[10] == 0xe9) || (b[0] == 0xe9 && b[-10] == 0x48 && b[-9] == 0xbb))
		return TOP_CALLED;
	if ((is3(b, 0x4c, 0x8d, 0x15) && is3(b + 7, 0x4d, 0x89, 0x97)) ||
		(is3(b, 0x4d, 0x89, 0x97) && b[7] == 0xe9) || (b[0] == 0xe9 && is3(b - 7, 0x4d, 0x89, 0x97)))
		return TOP_CALLED;
	return TOP_WHOLE;
}

/* Finds sub $N,%rsp between reach bytes before pc and pc. Returns bits: 1: there is one; 2: it ends at pc. There are no
 * branches, because the verifier would follow each. */
static __always_inline int after_sub(const __u8 *b, __u32 reach)
{
	__u64 v = (__u64)b[-BEFORE] << 8 | (__u64)b[-BEFORE + 1] << 16, small = 0, large = 0, mask;

	for (int i = BEFORE; i >= 4; i--) { /* bit i: the instruction is at b - i */
		v = (v >> 8 | (__u64)b[2 - i] << 16) & 0xffffff;
		small |= (((v ^ 0xec8348) - 1) >> 63) << i;
		large |= (((v ^ 0xec8148) - 1) >> 63) << i;
		FORGET(small);
		FORGET(large);
	}
	mask = (2ULL << (reach > BEFORE ? BEFORE : reach)) - 1;
	small &= mask;
	large &= mask & ~0x7fULL;
	return (small | large) ? 1 | (small >> 4 & 1) << 1 | (large >> 7 & 1) << 1 : 0;
}

/* push %rbp; sub $N,%rsp; or sub $N,%rsp; mov %rbp,N-16(%rsp). */
static __always_inline int prologue_x86(const __u8 *b, __u32 reach)
{
	int after;

	if (b[0] == 0x55)
		return TOP_CALLED;
	if (b[-1] == 0x55 && reach)
		return TOP_PUSHED;
	if (b[-4] == 0x55 && reach >= 4 && (is3(b - 3, 0x48, 0x8b, 0xec) || is3(b - 3, 0x48, 0x89, 0xe5)))
		return TOP_PUSHED;
	after = after_sub(b, reach);
	if (!after)
		return TOP_CALLED;
	return after & 2 && b[0] == 0x48 && b[1] == 0x89 && (b[2] == 0x6c || b[2] == 0xac) && b[3] == 0x24 ?
		TOP_SIZED_NOW : TOP_WHOLE;
}

static __always_inline int is_sub(const __u8 *b)
{
	return b[0] == 0x48 && (b[1] == 0x83 || b[1] == 0x81) && b[2] == 0xec;
}

/* Recognises a prologue wherever it is: mov %eax,-N(%rsp); push %rbp; sub $N,%rsp. */
static __always_inline int begins_x86(const __u8 *b)
{
	if (b[0] == 0x55 && is_sub(b + 1))
		return TOP_CALLED;
	if (b[-1] == 0x55 && is_sub(b))
		return TOP_PUSHED;
	if (is3(b, 0x89, 0x84, 0x24) && (is_sub(b + 7) || (b[7] == 0x55 && is_sub(b + 8))))
		return TOP_CALLED;
	return TOP_WHOLE;
}

/* Finds the position of an interrupted method in its prologue or epilogue, by its code. */
__global int hotspot_around(struct walk *w, struct hotspot_scratch *s)
{
	__u64 reach;
	const __u8 *b;
	int state;

	if (!w || !s || bpf_probe_read_user(s->chunk, HOTSPOT_AROUND, (void *)(w->pc - BEFORE)))
		return TOP_WHOLE;
	b = (const __u8 *)s->chunk + BEFORE;
	reach = w->pc - s->blob.code;
	state = begins_x86(b);
	if (state != TOP_WHOLE)
		return state;
	if (reach < s->blob.complete)
		return prologue_x86(b, reach);
	return epilogue_x86(b);
}

static __always_inline int is_near(__u64 addr, __u64 sp)
{
	return addr - sp < HOTSPOT_LOCALS_MAX && !(addr & 7);
}

/* Returns whether the word at addr is an address in the code cache. */
static __always_inline int has_ra(struct walk *w, struct hotspot_scratch *s, __u64 addr)
{
	__u64 ra = 0;

	return !walk_word(w, addr, &ra) && in_cache(s, ra);
}

/* The wrapper of a native method has a frame pointer. */
static __always_inline void top_native(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = has_ra(w, s, w->sp) ? 0 : has_ra(w, s, w->sp + 8) ? 1 : -1;

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (w->fp + 16 == w->sp + f->size || words < 0)
		return;
	f->step = STEP_TOP;
	f->size = words * 8;
}

static __always_inline void top_sized(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int state = WALK_ARM64(w) ? TOP_WHOLE : hotspot_around(w, s);

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (state == TOP_COPIES)
		f->size += 8;
	if (state == TOP_SIZED_NOW)
		f->step = STEP_SIZE_FP;
	if (state == TOP_CALLED || state == TOP_PUSHED) {
		f->step = STEP_TOP;
		f->size = state * 8;
	}
}

/* Returns the address to which a stub jumps at its end, if that is the next instruction, or 0. The exception's blob is
 * entered by a jump, with the return address in rdx, which it pushes. */
static __always_inline __u64 jumps_to(struct walk *w, struct hotspot_scratch *s)
{
	__u64 op = 0, to = 0;

	if (WALK_ARM64(w) || bpf_probe_read_user(&op, 8, (void *)w->pc))
		return 0;
	if (w->pc == s->blob.code && (op & 0xff) == 0x52)
		op = 0xe2ff;
	op &= 0xffff;
	to = op == 0xe0ff ? w->regs[RULE_REG_RAX] : op == 0xe1ff ? w->regs[RULE_REG_RCX] :
		op == 0xe2ff ? w->regs[RULE_REG_RDX] : op == 0xe3ff ? w->regs[RULE_REG_RBX] : 0;
	return in_cache(s, to) ? to : 0;
}

/* A stub has its size at calls; elsewhere its frame may be smaller, or have a frame pointer. */
static __always_inline void top_stub_sized(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = WALK_ARM64(w) ? -1 : prologue_words(w);
	__u64 copy = 0, ra = 0;

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (words < 0 && has_ra(w, s, w->sp + f->size - 8))
		return;
	if (words < 0 && !walk_word(w, w->sp, &copy) && in_cache(s, copy) && !walk_word(w, w->sp + f->size, &ra) &&
		ra == copy) { /* its prologue copies the return address by push and pop */
		f->size += 8;
		return;
	}
	if (words < 0 && w->fp - w->sp < f->size && has_ra(w, s, w->fp + 8)) {
		f->step = STEP_FP;
		return;
	}
	if (words < 0)
		words = has_ra(w, s, w->sp) ? 0 : has_ra(w, s, w->sp + 8) ? 1 : -1;
	if (words >= 0) {
		f->step = STEP_TOP;
		f->size = words * 8;
	}
}

/* Code that jumps to a method after it has moved arguments; then the caller's sp is in r13. */
static __always_inline void top_jump(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 ra = 0, sender = w->regs[RULE_REG_R13], rax = w->regs[RULE_REG_RAX];
	int on_stack = !walk_word(w, w->sp, &ra) && in_cache(s, ra);

	f->step = STEP_TOP;
	f->size = 0;
	if (s->blob.sort != SORT_ADAPTER || (!on_stack && !in_cache(s, rax)))
		return;
	f->step = STEP_GIVEN;
	f->to_pc = on_stack ? ra : rax;
	f->to_sp = is_near(sender, w->sp) ? sender : w->sp + 8 * on_stack;
}

/* A leaf, or code with a frame pointer. Memory at sp may have an old return address: in a leaf the caller's frame, too,
 * has one at its end. */
static __always_inline void top_stub(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = WALK_ARM64(w) ? -1 : prologue_words(w);
	const struct hotspot_memo *m;
	__u64 ra = 0;
	__u32 k;

	f->step = STEP_TOP;
	f->size = words * 8;
	if (words >= 0)
		return;
	f->step = STEP_FP;
	f->size = 0;
	if (WALK_ARM64(w) || w->fp == w->sp || walk_word(w, w->sp, &ra) || !in_cache(s, ra))
		return;
	k = hotspot_at(s, ra);
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	if (!(k & HOTSPOT_MEMO) && (m->sort == SORT_INTERPRETER ||
		(m->sort == SORT_SIZED && has_ra(w, s, w->sp + m->size))))
		f->step = STEP_TOP;
}
