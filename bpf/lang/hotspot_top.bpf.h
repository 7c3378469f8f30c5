/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_top.bpf.h - the frame that was interrupted in code that HotSpot made: it may not have its frame yet, or no
 * longer. Part of hotspot.bpf.c. arm64: hotspot_arm64.bpf.h.
 *
 * (src/hotspot/cpu/x86/macroAssembler_x86.cpp, templateInterpreterGenerator_x86.cpp, sharedRuntime_x86_64.cpp,
 * stubGenerator_x86_64.cpp of JDK 8 to 26) */
#pragma once
#include "hotspot_blob.bpf.h"

__u32 hotspot_at(struct hotspot_scratch *s, __u64 pc);

#define BEFORE 32 /* bytes of chunk[] before pc */

/* States of a frame of known size. */
enum { TOP_WHOLE = -1, TOP_CALLED = 0, TOP_PUSHED = 1, TOP_SIZED_NOW = 2, TOP_COPIES = 3 };

/* Code around pc, in chunk[]: 8 bytes each, the first one lowest. Volatile: clang would keep all words on the stack. */
struct around {
	volatile __u64 before2, before, at, next;
};

/* Returns 1 if the bytes in the mask are those of the value, else 0. There are no branches here and below, because the
 * verifier would follow each to the end. */
static __always_inline __u64 same(__u64 code, __u64 mask, __u64 value)
{
	__u64 x = (code & mask) ^ value;

	x |= -x;
	FORGET(x); /* else clang sees a comparison, and makes it a branch */
	x = (x >> 63) ^ 1;
	FORGET(x);
	return x;
}

/* push %rbp as the last instruction before pc. */
#define PUSHED_BEFORE(a) same((a)->before, 0xffULL << 56, 0x55ULL << 56)

/* Recognises a prologue wherever it is: mov %eax,-N(%rsp); push %rbp; sub $N,%rsp (48 83 or 81 ec). */
static __always_inline __u64 begins(const struct around *a)
{
	__u64 bang = same(a->at, 0xffffff, 0x248489);

	return same(a->at, 0xfffdffff, 0xec814855) |
	       (bang & same(a->at, 0xffULL << 56, 0x48ULL << 56) & same(a->next, 0xfffd, 0xec81)) |
	       (bang & same(a->at, 0xffULL << 56, 0x55ULL << 56) & same(a->next, 0xfffdff, 0xec8148));
}

/* After add $N,%rsp; pop %rbp: ret, or a poll of a safepoint, which has one form in 17 and later (cmp; ja), one in 11,
 * and one in 8; or a jump. */
static __always_inline __u64 ends(const struct around *a)
{
	__u64 popped = same(a->before, 0xffULL << 56, 0x5dULL << 56);

	return same(a->at, 0xff, 0xc3) |
	       (popped & (same(a->before, 0xffffff000000, 0xc48348000000) | same(a->before, 0xffffff, 0xc48148) |
		same(a->at, 0xffffff, 0x673b49) | same(a->at, 0xffffff, 0xa73b49))) |
	       same(a->at, 0xff00000000ffff, 0xc300000000870f) | same(a->at, 0xff00000000ffff, 0xc3000000000585) |
	       same(a->at, 0xffffffff, 0xc3028541) |
	       (same(a->at, 0xff00000000ffffff, 0x4100000000978b4d) & same(a->next, 0xffffff, 0xc30285));
}

/* Code behind a method, which it jumps to or calls: mov $Method,%rbx; jmp, for interpreted methods; and lea, mov, jmp
 * from the poll at its end. */
static __always_inline __u64 is_behind(const struct around *a)
{
	__u64 jump = same(a->at, 0xff, 0xe9);

	return (same(a->at, 0xffff, 0xbb48) & same(a->next, 0xff0000, 0xe90000)) |
	       (jump & same(a->before2, 0xffffULL << 48, 0xbb48ULL << 48)) |
	       (same(a->at, 0xff00000000ffffff, 0x4d00000000158d4c) & same(a->next, 0xffff, 0x9789)) |
	       same(a->at, 0xff00000000ffffff, 0xe90000000097894d) | (jump & same(a->before, 0xffffff00, 0x97894d00));
}

#define EACH_BYTE(x) ((x) * 0x0101010101010101ULL)

/* Returns a bit for each of the eight bytes, the lowest first: 1 if it is the value. */
static __always_inline __u64 bytes_equal(__u64 v, __u64 value)
{
	__u64 x = v ^ EACH_BYTE(value);

	x = ~(((x & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | x) & EACH_BYTE(0x80);
	return (x >> 7) * 0x0102040810204080ULL >> 56;
}

/* Returns a bit for each byte of chunk[] before pc and of the one behind. */
static __always_inline __u64 chunk_equal(const volatile __u64 *chunk, __u64 value)
{
	__u64 ret = 0;

	for (int i = 0; i <= BEFORE / 8; i++)
		ret |= bytes_equal(chunk[i], value) << (8 * i);
	return ret;
}

/* Finds sub $N,%rsp (48 83 or 81 ec) between reach bytes before pc and pc. Returns bits: 1: there is one; 2: it ends at
 * pc. */
static __always_inline __u64 after_sub(const volatile __u64 *chunk, __u64 reach)
{
	__u64 from = reach > BEFORE ? 0 : BEFORE - reach, around, is_small, is_large, now;

	around = chunk_equal(chunk, 0x48) & chunk_equal(chunk, 0xec) >> 2 & -(1ULL << (from & 63));
	is_small = around & chunk_equal(chunk, 0x83) >> 1 & ((1ULL << (BEFORE - 3)) - 1);
	is_large = around & chunk_equal(chunk, 0x81) >> 1 & ((1ULL << (BEFORE - 6)) - 1);
	now = (is_small >> (BEFORE - 4) | is_large >> (BEFORE - 7)) & 1;
	return is_small | is_large ? 1 | now << 1 : 0;
}

/* push %rbp; sub $N,%rsp; or push %rbp; mov %rsp,%rbp; or sub $N,%rsp; mov %rbp,N-16(%rsp). */
static __always_inline int in_prologue(const struct around *a, const volatile __u64 *chunk, __u64 reach)
{
	__u64 sub, mov;

	if (same(a->at, 0xff, 0x55))
		return TOP_CALLED;
	if (reach && (PUSHED_BEFORE(a) | same(a->before >> 32, 0xffffffff, 0xec8b4855) |
		same(a->before >> 32, 0xffffffff, 0xe5894855)))
		return TOP_PUSHED;
	sub = after_sub(chunk, reach);
	mov = same(a->at, 0xffffffff, 0x246c8948) | same(a->at, 0xffffffff, 0x24ac8948);
	return !sub ? TOP_CALLED : (sub >> 1 & mov) ? TOP_SIZED_NOW : TOP_WHOLE;
}

/* Finds the position of an interrupted method in its prologue or epilogue, by its code. C2 copies words of the stack by
 * push and pop. */
__global int hotspot_around(struct walk *w, struct hotspot_scratch *s)
{
	const struct around *a;
	__u64 reach;

	if (!w || !s || bpf_probe_read_user(s->chunk, HOTSPOT_AROUND, (void *)(w->pc - BEFORE)))
		return TOP_WHOLE;
	a = (const struct around *)&s->chunk[2];
	reach = w->pc - s->blob.code;
	if (begins(a))
		return TOP_CALLED;
	if (PUSHED_BEFORE(a) & same(a->at, 0xfffdff, 0xec8148))
		return TOP_PUSHED;
	if (reach < s->blob.complete)
		return in_prologue(a, s->chunk, reach);
	if (same(a->at, 0xff, 0x5d))
		return TOP_PUSHED;
	if (same(a->at, 0xffff, 0x8f48) | same(a->at, 0x38ff, 0x8f))
		return TOP_COPIES;
	return ends(a) | is_behind(a) ? TOP_CALLED : TOP_WHOLE;
}

static __always_inline int is_near(__u64 addr, __u64 sp)
{
	return addr - sp < HOTSPOT_LOCALS_MAX && !(addr & 7);
}

/* The wrapper of a native method has a frame pointer. */
static __always_inline void top_native(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = hotspot_code(w, s, w->sp) ? 0 : hotspot_code(w, s, w->sp + 8) ? 1 : -1;

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (w->fp + 16 == w->sp + f->size || words < 0)
		return;
	f->step = STEP_TOP;
	f->size = words * 8;
}

static __always_inline void top_sized(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int state = hotspot_around(w, s);

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (state == TOP_COPIES)
		f->size += 8;
	if (state == TOP_SIZED_NOW)
		f->step = STEP_SIZE_FP;
	if (state == TOP_CALLED || state == TOP_PUSHED) {
		f->step = STEP_TOP;
		f->size = state * 8;
		return;
	}
	/* Methods are called only from the code cache. C2's loops over strings and arrays push up to two registers. */
	for (int i = 0; i < 2 && !hotspot_code(w, s, w->sp + f->size - 8); i++)
		if (hotspot_code(w, s, w->sp + f->size + 8 * i))
			f->size += 8 * i + 8;
}

/* Returns the address to which a stub jumps at its end, if that is the next instruction, or 0. The exception's blob is
 * entered by a jump, with the return address in rdx, which it pushes. */
static __always_inline __u64 jumps_to(struct walk *w, struct hotspot_scratch *s)
{
	__u64 op = 0, to = 0;

	if (bpf_probe_read_user(&op, 8, (void *)w->pc))
		return 0;
	if (w->pc == s->blob.code && (op & 0xff) == 0x52)
		op = 0xe2ff;
	op &= 0xffff;
	to = op == 0xe0ff ? w->regs[RULE_REG_RAX] : op == 0xe1ff ? w->regs[RULE_REG_RCX] :
		op == 0xe2ff ? w->regs[RULE_REG_RDX] : op == 0xe3ff ? w->regs[RULE_REG_RBX] : 0;
	return hotspot_in_cache(s, to) ? to : 0;
}

/* Returns whether the frame that the return address leads to may begin at sp: if it has a size, there is a return
 * address at its end. */
static __always_inline int fits(struct walk *w, struct hotspot_scratch *s, __u64 ra, __u64 sp)
{
	const struct hotspot_memo *m;
	__u32 k = hotspot_at(s, ra);

	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	return k & HOTSPOT_MEMO || m->sort != SORT_SIZED || hotspot_code(w, s, sp + m->size - 8);
}

#define LEAF_WORDS 6  /* C1's stubs save up to four registers */
#define LEAF_ARGS  16 /* C1 pushes two words before it calls slow_subtype_check */

/* A stub that pushes registers: its return address is above them, and may be below two arguments. If it is not there,
 * a frame that has a size is gone, and the stub will jump to rax. */
static __always_inline void top_pushed(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	for (int i = 0; i < LEAF_WORDS; i++) {
		f->to_sp = w->sp + 8 * i + 8;
		f->to_pc = hotspot_code(w, s, f->to_sp - 8);
		if (!f->to_pc)
			continue;
		if (!fits(w, s, f->to_pc, f->to_sp)) {
			f->to_sp += LEAF_ARGS;
			if (!fits(w, s, f->to_pc, f->to_sp))
				continue;
		}
		f->step = STEP_GIVEN;
		return;
	}
	if (f->step != STEP_SIZE || !hotspot_in_cache(s, w->regs[RULE_REG_RAX]))
		return;
	f->step = STEP_GIVEN;
	f->to_pc = w->regs[RULE_REG_RAX];
	f->to_sp = w->sp;
}

/* A stub of C1 or of a barrier that was interrupted: it pushes registers, or has a frame pointer. Returns whether
 * top_pushed() has to look. */
static __always_inline int top_leaf(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	f->step = STEP_FP;
	f->size = 0;
	return w->fp - w->sp >= 8 * LEAF_WORDS || !hotspot_code(w, s, w->fp + 8);
}

/* Positions at the end of a stub that jumps to a handler of an exception: add $N,%rsp (83 c4 or 81 c4); pop %rbp, which
 * the blob of exceptions lacks; pop %rdx, the return address; moves; jmp (ff e0 to e3). */
enum { END_NONE = -1, END_POPPED = -2 }; /* or the words above the return address */

__global int hotspot_stub_end(struct walk *w, struct hotspot_scratch *s)
{
	__u64 reach, added, rbp, pops, jumps = 0, from;

	if (!w || !s || bpf_probe_read_user(s->chunk, HOTSPOT_AROUND, (void *)(w->pc - BEFORE)))
		return END_NONE;
	reach = w->pc - s->blob.code;
	from = -1ULL << ((reach > BEFORE ? 0 : BEFORE - reach) & 63);
	added = chunk_equal(s->chunk, 0xc4) & from;
	added = (added & chunk_equal(s->chunk, 0x83) << 1) << 2 | (added & chunk_equal(s->chunk, 0x81) << 1) << 5;
	rbp = chunk_equal(s->chunk, 0x5d) & added;
	pops = chunk_equal(s->chunk, 0x5a) & (added | rbp << 1);
	for (int i = 0; i < BEFORE / 8; i++)
		jumps |= bytes_equal(s->chunk[i] & EACH_BYTE(0xfc), 0xe0) << (8 * i);
	jumps &= chunk_equal(s->chunk, 0xff) << 1;
	if (rbp >> BEFORE & 1)
		return 1;
	if (pops >> BEFORE & 1)
		return 0;
	return (pops & ((1ULL << BEFORE) - 1)) > jumps ? END_POPPED : END_NONE;
}

/* A stub has its size at calls; elsewhere its frame may be smaller, or have a frame pointer. Returns whether
 * top_pushed() has to look. */
static __always_inline int top_stub_sized(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = prologue_words(w), end = words < 0 ? hotspot_stub_end(w, s) : END_NONE;
	__u64 copy, rdx = w->regs[RULE_REG_RDX];

	f->size = s->blob.size;
	f->step = STEP_SIZE;
	if (end == END_POPPED && hotspot_in_cache(s, rdx)) {
		f->step = STEP_GIVEN;
		f->to_pc = rdx;
		f->to_sp = w->sp;
		return 0;
	}
	if (end >= 0 && hotspot_code(w, s, w->sp + 8 * end)) {
		f->step = STEP_TOP;
		f->size = end * 8;
		return 0;
	}
	if (words < 0 && hotspot_code(w, s, w->sp + f->size - 8))
		return 0;
	copy = words < 0 ? hotspot_code(w, s, w->sp) : 0;
	if (copy && hotspot_code(w, s, w->sp + f->size) == copy) { /* pushed, to be copied */
		f->size += 8;
		return 0;
	}
	if (words < 0 && w->fp - w->sp < f->size && hotspot_code(w, s, w->fp + 8)) {
		f->step = STEP_FP;
		return 0;
	}
	if (words < 0)
		words = copy ? 0 : hotspot_code(w, s, w->sp + 8) ? 1 : -1;
	if (words < 0)
		return 1;
	f->step = STEP_TOP;
	f->size = words * 8;
	return 0;
}

/* Code that jumps to a method after it has moved arguments; then the caller's sp is in r13. */
static __always_inline void top_jump(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 ra = hotspot_code(w, s, w->sp), sender = w->regs[RULE_REG_R13], rax = w->regs[RULE_REG_RAX];
	int on_stack = !!ra;

	f->step = STEP_TOP;
	f->size = 0;
	if (s->blob.sort != SORT_ADAPTER || (!on_stack && !hotspot_in_cache(s, rax)))
		return;
	f->step = STEP_GIVEN;
	f->to_pc = on_stack ? ra : rax;
	f->to_sp = is_near(sender, w->sp) && fits(w, s, f->to_pc, sender) ? sender : w->sp + 8 * on_stack;
}

/* A leaf, or code with a frame pointer. Memory at sp may have an old return address: in a leaf the caller's frame, too,
 * has one at its end. */
static __always_inline void top_stub(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int words = prologue_words(w);
	const struct hotspot_memo *m;
	__u64 ra = 0;
	__u32 k;

	f->step = STEP_TOP;
	f->size = words * 8;
	if (words >= 0)
		return;
	f->step = STEP_FP;
	f->size = 0;
	ra = w->fp == w->sp ? 0 : hotspot_code(w, s, w->sp);
	if (!ra)
		return;
	k = hotspot_at(s, ra);
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	if (!(k & HOTSPOT_MEMO) && (m->sort == SORT_INTERPRETER ||
		(m->sort == SORT_SIZED && hotspot_code(w, s, w->sp + m->size))))
		f->step = STEP_TOP;
}
