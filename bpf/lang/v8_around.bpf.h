/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* v8_around.bpf.h - whether interrupted code that V8 compiled is in its prologue or epilogue, found by its
 * instructions: src/compiler/backend/x64/ and arm64/code-generator-*.cc, src/baseline/ and src/maglev/ of V8
 * 7.8 to 14.6. Part of v8.bpf.c. */
#pragma once
#include "bpf/lib/insn.h"
#include "v8_state.bpf.h"

/* Returns whether interrupted code that V8 compiled has no frame. Its next instructions then either still make one
 * (stp x29, x30, ..; mov x29, sp), or return after ldp x29, x30, .. */
static __always_inline int starts_arm(const __u32 *op)
{
	for (int i = 0; i < V8_AHEAD / 4; i++) {
		if ((op[i] & A64_MOV_FP_MASK) == A64_MOV_FP_SP || A64_IS_RET(op[i]))
			return 1;
		if (A64_IS_POP_FP_LR(op[i]) || A64_IS_BL(op[i]) || A64_IS_BLR(op[i]))
			return 0;
	}
	return 0;
}

/* Returns whether the bytes have push %rbp; mov %rsp,%rbp. There are no branches, because the verifier would follow
 * each. */
static __always_inline int makes_frame(const __u8 *b, int from, int to)
{
	__u64 v = (__u64)b[from] << 8 | (__u64)b[from + 1] << 16 | (__u64)b[from + 2] << 24, found = 0;

	for (int i = from; i < to; i++) {
		v = v >> 8 | (__u64)b[i + 3] << 24;
		found |= ((v ^ 0xe5894855) - 1) >> 63;
		FORGET(found);
	}
	return found;
}

/* Returns whether interrupted code that V8 compiled has no frame. In the prologue, push %rbp; mov %rsp,%rbp follow
 * after up to three instructions that check whether the code is still valid; or Sparkplug has mov $,%ebx;
 * mov $,%r12; call of the code that makes its frame. In the epilogue there are pop %rbp; cmp $,%..; jg; ret
 * $; or pop %r..; lea ..,%rsp. */
static __always_inline int starts_x86(const __u8 *b)
{
	if ((b[-1] == 0x5d && b[1] == 0x83) || (b[0] == 0x7f && b[2] == 0xc2) ||
		(b[0] == 0x0f && b[1] == 0x8f && b[6] == 0xc2) || (b[0] == 0x41 && b[3] == 0x8d && b[4] == 0x24))
		return 1;
	if (makes_frame(b, 4, 17))
		return 1;
	if (b[0] == 0xbb && b[5] == 0x49 && b[6] == 0xbc && b[15] == 0xe8)
		return 1;
	return (b[0] == 0x49 && b[1] == 0xbc && b[10] == 0xe8) || (b[0] == 0xe8 && b[-10] == 0x49 && b[-9] == 0xbc);
}

enum { V8_FRAMELESS = 1, V8_BEGINS = 2 };

/* Reads the instructions around an interrupted pc in compiled code. V8_FRAMELESS: there is no frame.
 * V8_BEGINS: the frame is made soon or was made just now, so the function is still in its argument register. */
__global int v8_around(struct walk *w)
{
	struct v8_scratch *s = w ? scratch_of(w) : NULL;
	__u64 begins = 0;
	const __u32 *op;
	const __u8 *b;

	if (!s || !(w->map.flags & MAPPING_ANON) || !(w->flags & WALK_EXACT) ||
		bpf_probe_read_user(s->chunk, 16 + V8_AHEAD, (void *)(w->pc - 16)))
		return 0;
	op = (const __u32 *)s->chunk + 4;
	b = (const __u8 *)s->chunk + 16;
	if (WALK_ARM64(w)) {
		for (int i = -2; i < V8_AHEAD / 4; i++) { /* no branches, see makes_frame() */
			begins |= ((__u64)((op[i] & A64_MOV_FP_MASK) ^ A64_MOV_FP_SP) - 1) >> 63;
			FORGET(begins);
		}
		return starts_arm(op) * V8_FRAMELESS | begins * V8_BEGINS;
	}
	begins = makes_frame(b, -6, 17) || (b[0] == 0xbb && b[5] == 0x49 && b[6] == 0xbc && b[15] == 0xe8);
	return starts_x86(b) * V8_FRAMELESS | begins * V8_BEGINS;
}
