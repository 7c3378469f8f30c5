/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* kernel.bpf.h - the machine of a kernel half: libbpf's helpers, or, with STRATA_HOST, their stand-ins in
 * userspace (bpf/lib/host.h).
 *
 * Every function that another object calls is __global: weak, so that clang assumes nothing about it across
 * the call (the verifier checks each separately), and noinline. */
#pragma once

#ifdef STRATA_HOST
#include "bpf/lib/host.h"
#else
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/* This does not include vmlinux.h, because one CO-RE relocation costs 9 ms at each start. The layouts
 * of struct pt_regs are ABI. */
struct task_struct;
struct pt_regs;

/* Before Linux 5.17 there is no bpf_loop(). The verifier then follows each round, so loops end early; a stack is marked
 * if one did. The verifier needs the constant limit, which clang drops if it knows that n is below it. */
#ifdef NO_BPF_LOOP
#define LOOP_ROUNDS 2048 /* rounds of a walk, see walk_round() */
#define LOOP_MAX    256  /* rounds of other loops */
#define bpf_loop(n, f, data, flags)                                                      \
	({                                                                               \
		__u32 i_, n_ = (n);                                                      \
		asm volatile("" : "+r"(n_));                                             \
		for (i_ = 0; i_ < LOOP_MAX && i_ < n_; i_++)                             \
			if (f(i_, data)) {                                               \
				i_++;                                                    \
				break;                                                   \
			}                                                                \
		(long)i_;                                                                \
	})
#endif
#endif

#define __global __weak __attribute__((noinline))

/* A round of a loop. Without bpf_loop() the verifier follows each round, but the branches of a function only once. It
 * demands that such a function tests its pointers: LACKS(). */
#ifdef NO_BPF_LOOP
#define __round  __global
#define LACKS(p) (!(p))
#else
#define __round  static __always_inline
#define LACKS(p) 0
#endif

#ifndef NULL
#define NULL ((void *)0)
#endif

/* Verifier workaround: clang drops `x & (N - 1)` if it knows x < N from a test which the verifier has lost
 * through a spill. This makes clang forget it, too. */
#ifdef STRATA_HOST
#define FORGET(x) ((void)(x))
#else
#define FORGET(x) asm volatile("" : "+r"(x))
#endif

/* Returns 1 if v is not 0, else 0, without a branch: the verifier would follow both ways to the end. Clang forgets the
 * value before the shift, else it sees a comparison, and makes it a branch. */
static __always_inline __u64 is_set(__u64 v)
{
	__u64 negative = -v;

	FORGET(negative);
	return (v | negative) >> 63;
}

/* Returns 1 if a <= b, else 0, for a bisection. Both are below 2^63. Clang makes a branch of it, which costs the
 * verifier less than an unknown product: 700 instructions instead of 15,000 in walk_published(). Multiply by it,
 * because newer verifiers follow both cases of `half & -x`. */
static __always_inline __u64 not_above(__u64 a, __u64 b)
{
	__u64 negative = (b - a) >> 63;

	FORGET(negative);
	return 1 - negative;
}
