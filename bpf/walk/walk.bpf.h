/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* walk.bpf.h - the state of a walk, and how it reads the stack.
 *
 * One struct walk per scratch slot and CPU, in map memory: what a function loads
 * from there is an unknown number to the verifier, so that no two paths differ and
 * each function is verified once, in a few hundred instructions. */
#pragma once
#include "bpf/lib/maps.bpf.h"
#include "bpf/lang/python.h"
#include "unwind.h"

#define WINDOW_BYTES 2048
#define WINDOW_WORDS (WINDOW_BYTES / 8)
#define PAGE         4096 /* the smallest there is */
#define WINDOW_NONE  1 /* no aligned address is within */

enum walk_flags {
	WALK_EXACT = 1,     /* pc is about to run: not a return address */
	WALK_REGS = 2,      /* regs[] are this frame's */
	WALK_NO_WINDOW = 4, /* a window could not be read: word by word */
	WALK_GUESSED = 8,   /* this frame was found by frame pointer alone */
	WALK_BLIND = 16,    /* mappings are not known and nobody will tell */
	WALK_LR = 32,       /* arm64: lr is this frame's */
	WALK_ASK = 64,      /* userspace shall finish it */
	WALK_RBX = 128,     /* regs[RULE_REG_RBX] is this frame's */
	WALK_LATE = 512,    /* host: the process has gone on; its stack is a copy, other memory is not */
	WALK_BODY = 256,    /* arm64: stopped by Go's runtime: not in a prologue or an epilogue */
};

struct walk {
	__u64 window[WINDOW_WORDS]; /* first: 64-byte aligned, so that copies are fast */
	__u64 window_at;            /* address of its first byte; WINDOW_NONE */

	__u64 own;                  /* lr lies in the function of pc: walk_lr() */
	struct { /* walk_own(): not on the stack, which is short there */
		__u32 file, page, last; /* the next page, and addr's */
		__u32 low;              /* of addr in its page */
		__u32 rule;             /* index of the function's */
		int own;
	} search;
	__u64 pc_mask;              /* arm64: the address in a return address */
	__u64 pc, sp, fp, lr;
	__u64 g;                    /* arm64: x28 of the thread: Go's g */
	__u64 lookup;               /* the address looked up: pc or pc - 1 */
	__u64 regs[16];             /* by enum rule_reg, of the frame where they are known */
	__u32 flags;                /* enum walk_flags */
	__u32 machine;              /* host only: EM_X86_64, EM_AARCH64 */
	__u32 switches;             /* times the stack went down */
	__u32 pid;

	struct mapping map;         /* of lookup; start == end: none */
	struct mapping before;      /* another one that was found in this walk, or none */
	__u64 cached_span;          /* bytes of map whose rules may be in the cache: all or 0 */
	__u64 rule;
	__u32 in_loop, pad;         /* lookup is in an interpreter's loop */

	/* The table's head, of file table_file (0: none) */
	__u64 table_base;
	__u32 table_file;
	__u32 table_npages, table_rules, table_pages, table_rows, table_nranges;
	__u64 table_go, table_go_size;
	struct {
		__u32 start, end;
	} range[TABLE_RANGES];

	__u64 hash;
	__u32 nr, limit;
	__u32 want, store;
	__u32 places;               /* of a frame's number, what says where it is stored: all, or nothing */
	__u32 end;                  /* enum unwind_end + 1; 0: going on */
	__u32 trouble;              /* a language's error, or what was not known: enum unwind_end */
	__u32 py_emitted;           /* of this activation */
	__u32 py_in;                /* inside an activation */
	__u32 py_listed;            /* the thread has frames of the language */
	/* What it was when the activation was entered */
	__u32 py_nr, py_trouble;
	__u64 py_hash, py_frame, py_newest;
	struct python_cursor py;

	__u64 v8_asked;             /* fp of the frame that a window was read for */
	__u32 v8_walk;              /* v8_begin() was called */
	__u32 v8_on;                /* the frame before was V8's */
	__u32 v8_budget;            /* words of code that may be looked at */
	__u32 tid;

	struct { /* where the walk began, for userspace to finish it */
		__u64 pc, sp, fp, lr;
	} first;
	__u64 signal[34];           /* registers of a signal frame */
} __attribute__((aligned(64)));

/* On the host one build serves both machines. */
#ifdef STRATA_HOST
#define WALK_ARM64(w) ((w)->machine == 183)
#elif defined(__TARGET_ARCH_arm64)
#define WALK_ARM64(w) 1
#else
#define WALK_ARM64(w) 0
#endif

/* What is copied to the window: 2 KiB cost little more than a word, and most frames
 * are found in it. Slow path of walk_word(). 0 or -1. */
int walk_refill(struct walk *w, __u64 addr, __u64 *ret);

/* The word at addr; 0 or -1. */
static __always_inline int walk_word(struct walk *w, __u64 addr, __u64 *ret)
{
	__u64 off = addr - w->window_at;

	if (off > WINDOW_BYTES - 8 || (off & 7))
		return walk_refill(w, addr, ret);
	off >>= 3;
	FORGET(off);
	*ret = w->window[off & (WINDOW_WORDS - 1)];
	return 0;
}

/* arm64 signs return addresses in the high bits. */
static __always_inline __u64 strip(struct walk *w, __u64 pc)
{
	return WALK_ARM64(w) ? pc & w->pc_mask : pc;
}

/* The word at an offset that is checked. */
static __always_inline __u64 window_word(struct walk *w, __u64 off)
{
	FORGET(off);
	return w->window[off >> 3 & (WINDOW_WORDS - 1)];
}

/* Sets w->map for w->lookup. 0, or enum unwind_end + 1. */
int walk_mapping(struct walk *w);
/* The same of what userspace has told alone: whether a process has a language is known
 * only then. */
int walk_told(struct walk *w);
/* Whether more or other code is mapped than userspace has told of. */
int walk_is_stale(struct walk *w);
/* Whether the process may have one of those (1 << enum frame_lang), as far as is known. */
int walk_may_have(struct walk *w, __u32 languages);
/* Loads the head of the mapping's table. 0, or enum unwind_end + 1. */
int walk_table(struct walk *w);
/* Sets w->rule for w->lookup (0: none), and in_loop, from the table. 0, or enum unwind_end + 1. */
int walk_rule(struct walk *w);
/* Whether addr is in the function of w->lookup, where a row is a function. */
int walk_own(struct walk *w, __u64 addr);
/* What to do about an address or a table that is not known, by enum unwind_end. 0: go
 * on by frame pointer, or enum unwind_end + 1. */
int walk_unknown(struct walk *w, __u32 end);
/* So many bytes were sent to ask of the process. */
int walk_asked(struct walk *w, __u32 size);
/* From this frame to its caller by w->rule (0: by frame pointer). 0, or
 * enum unwind_end + 1. */
int native_step(struct walk *w);
/* V8's frames, in v8.bpf.c: that of the function that is at w's frame pointer, or 0; the
 * step of native_step(). */
__u64 v8_function(struct walk *w);
int native_v8(struct walk *w);
/* A process that userspace has not told to have V8, at a mapping of it (w->map): whether it is
 * known to have it, now that its file is met. 0 or -1. */
int v8_meet(struct walk *w);
/* Frames of V8's that are all in the window and known. The address of what is to be in it,
 * or 0. */
__u64 v8_plain(struct walk *w);
/* fsbase, tpidr_el0 of the thread; 0: not known. */
__u64 thread_pointer(void);

/* In python.bpf.c, see python.h. */
int python_is_file(__u32 file);
int python_forget(__u32 pid);
int python_begin(struct python_cursor *c);
int python_outer(struct python_cursor *c);
int python_step(struct python_cursor *c, __u64 *frame);
int python_plain(struct python_cursor *c);
