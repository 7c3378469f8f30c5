/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* step.bpf.h - parts of every step to a caller: reading words, arriving at the caller, and the frame that was
 * interrupted in its prologue or epilogue. */
#pragma once
#include "maps.bpf.h"

#define USER_MAX     (1ULL << 56)
#define SWITCHES_MAX 1024 /* Go and C that call each other need two per call */

static __always_inline int read_user(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, 8, (void *)addr);
}

static __always_inline int stop(enum unwind_end end)
{
	return end + 1;
}

/* Sets the caller's registers; sp must grow. Only code that moved to another stack by its frame pointer
 * may go down, and not often. */
static __always_inline int arrive(struct walk *w, __u64 pc, __u64 sp, __u64 fp, int may_switch)
{
	if (sp <= w->sp) {
		if (!may_switch || w->switches >= SWITCHES_MAX)
			return stop(UNWIND_LOOP);
		w->switches++;
		w->flags &= ~WALK_NO_WINDOW;
	}
	w->pc = strip(w, pc);
	w->sp = sp;
	w->fp = fp;
	w->flags &= ~(WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED | WALK_BODY);
	return w->pc ? 0 : stop(UNWIND_COMPLETE);
}

/* Returns the words between sp and RA in sub $N,%rsp; call *%r..; add $N,%rsp; ret, or -1: see fp_epilogue_x86(). */
static __always_inline int call_words(struct walk *w, __u64 v)
{
	int at_sub = (v & 0xf8ff87ffffffULL) == 0xd0ff00ec8348ULL;

	if (at_sub && bpf_probe_read_user(&v, 8, (void *)(w->pc + 4)))
		return -1;
	if ((v & 0xff87fffffff8ffULL) != 0xc300c48348d0ffULL)
		return -1;
	return at_sub ? 0 : v >> 43 & 15;
}

/* Finds the position of an interrupted x86 function in its prologue or epilogue, by its code. Returns the
 * number of words between sp and RA, or -1 between prologue and epilogue, where fp is set. */
static __always_inline int prologue_words(struct walk *w)
{
	__u64 v;

	if (bpf_probe_read_user(&v, 8, (void *)(w->pc - 1)))
		return -1;
	if ((v & 0xffffff) == 0x3d80fa)
		return 0; /* endbr64 before it; cmpb $N,x(%rip): gcc's __do_global_dtors_aux of each library */
	v >>= 8; /* at pc */
	if ((v & 0xff) == 0x55 || (v & 0xff) == 0xc3 || (v & 0xff) == 0xc2)
		return 0; /* push %rbp; ret */
	if ((v & 0xffffffff) == 0xfa1e0ff3)
		return 0; /* endbr64 */
	if ((v & 0xffffff) == 0xe58948 || (v & 0xffffff) == 0xec8b48)
		return 1; /* mov %rsp,%rbp */
	return call_words(w, v);
}

/* Maximum size of a function whose bounds are unknown. */
#define FUNCTION_REACH 0x10000ULL

/* Finds the position of an interrupted arm64 function by its link register. If LR is an address in the
 * function, or the one in its frame, the function has a frame and makes a call. If LR is in another function,
 * there is no frame yet, or no longer. Any other value is scratch. Returns 1 if it made the step. */
static __always_inline int fp_top_arm(struct walk *w, int *err)
{
	__u64 reach = RULE_KIND(w->rule) == RULE_FP ? RULE_OFFSET(w->rule) : FUNCTION_REACH;
	__u64 lr = strip(w, w->lr), ra = 0;

	if (!(w->flags & WALK_LR) || lr - w->pc + reach < 2 * reach)
		return 0;
	if (!(w->fp & 7) && !walk_word(w, w->fp + 8, &ra) && strip(w, ra) == lr)
		return 0;
	w->lookup = lr - 1;
	w->cached_span = 0;
	if (walk_published(w)) /* walk_mapping() would be one call too deep */
		return 0;
	*err = arrive(w, lr, w->sp, w->fp, 1);
	return 1;
}

/* Steps from the interrupted frame, whose fp may not be its own yet. Returns 1 if it made the step. */
static __always_inline int fp_top_x86(struct walk *w, int *err)
{
	int words = prologue_words(w);
	__u64 ra = 0, fp = w->fp;

	if (words < 0)
		return 0;
	if (walk_word(w, w->sp + words * 8, &ra) || (words && walk_word(w, w->sp, &fp)))
		*err = stop(UNWIND_UNREADABLE);
	else
		*err = arrive(w, ra, w->sp + words * 8 + 8, fp, 0);
	return 1;
}

/* Frames that are only counted are all written to frames[0], which nobody reads. There is no branch, because the
 * verifier would follow both ways to the end. */
static __always_inline void store_frame(struct walk *w, struct stack_record *out, __u64 n, __u64 frame)
{
	n &= w->store_mask;
	FORGET(n);
	out->frames[n & unwind_config.frames_mask] = frame;
}
