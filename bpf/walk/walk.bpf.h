/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* walk.bpf.h - the state of a walk, and how it reads the stack.
 *
 * One struct walk per scratch slot and CPU, in map memory: what a function loads
 * from there is an unknown number to the verifier, so that no two paths differ and
 * each function is verified once, in a few hundred instructions. */
#pragma once
#include "bpf/lib/maps.bpf.h"
#include "unwind.h"

extern const volatile struct unwind_config unwind_config;

#define WINDOW_BYTES 2048
#define WINDOW_WORDS (WINDOW_BYTES / 8)
#define PAGE         4096 /* the smallest there is */
#define WINDOW_NONE  1 /* no aligned address is within */

enum walk_flags {
	WALK_EXACT = 1,     /* pc is about to run: not a return address */
	WALK_REGS = 2,      /* regs[] are this frame's */
	WALK_NO_WINDOW = 4, /* a window could not be read: word by word */
	WALK_GUESSED = 8,   /* this frame was found by frame pointer alone */
	WALK_BLIND = 16,    /* mappings are not known, and userspace is not asked any more */
	WALK_LR = 32,       /* arm64: lr is this frame's */
	WALK_ASK = 64,      /* userspace shall finish it */
	WALK_RBX = 128,     /* regs[RULE_REG_RBX] is this frame's */
	WALK_LATE = 512,    /* host: the process has gone on; its stack is a copy, other memory is not */
	WALK_BODY = 256,    /* arm64: stopped by Go's runtime: not in a prologue or an epilogue */
};

/* Where a walk is in a LANG_LIST language's list of frames. */
#define LIST_BATCH 8
#define LIST_OWN   8
struct list_cursor {
	__u32 lang;   /* enum frame_lang; 0: none yet */
	__u32 begun;  /* STEM_begin() was called; LIST_HAS_LANG: and the process has the language */
	__u64 bias;   /* of the file with the interpreter's loop.. */
	__u32 file;   /* ..and its number; 0: not known */
	__u16 ended;  /* the last frame was its activation's last */
	__u16 shown;  /* a frame of this activation was shown */
	__u64 frame;  /* the next one: an address, or what the language likes; 0: none */
	__u64 entry;  /* after STEM_next() returned 0: an address in the C frame that ran the frames of
	               * this activation; 0: not known. Elsewhere, they are not that activation's */
	__u64 newest; /* entry of the first activation, where boundaries between frames do not say */
	__u64 own[LIST_OWN]; /* the language's own, zero at the walk's start */
	__u64 batch[LIST_BATCH];
};
#define LIST_HAS_LANG 2

#define FRAME_OWN 4
#define WALK_GAPS 8

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

	/* The table's header, of file table_file (0: none) */
	__u64 table_base;
	__u32 table_file;
	__u32 table_npages, table_rules, table_pages, table_rows, table_nranges;
	__u64 table_code, table_code_size; /* of a LANG_NATIVE language */
	struct {
		__u32 start, end;
	} range[TABLE_RANGES];

	__u64 hash;
	__u32 nr, limit;
	__u32 filter, store;        /* see struct stack_req; frames are stored, not only counted */
	__u32 store_mask;           /* for the index into frames[]: ~0 stores, 0 only counts */
	__u32 end;                  /* enum unwind_end + 1; 0: going on */
	__u32 cause;                /* a language's error, or what was not known: enum unwind_end */
	__u32 slot;                 /* index in the maps of scratch memory: CPU and slot */
	__u64 tp;                   /* thread pointer; 0: walk_tp() finds it */
	__u32 tid;

	/* ---- a language of kind LANG_LIST ---- */
	__u32 list_emitted;         /* of this activation */
	__u32 list_in;              /* inside an activation */
	__u32 list_any;             /* the thread has frames of the language */
	__u32 list_nr, list_cause;  /* as they were when the activation was entered.. */
	__u64 list_hash, list_frame, list_newest; /* ..likewise */
	struct list_cursor list;

	/* ---- a language of kind LANG_FRAME ---- */
	__u32 frame_lang;           /* of the frame before: enum frame_lang, or 0 */
	__u32 frame_begun;          /* whose frame_own[] it is */
	__u64 frame_own[FRAME_OWN]; /* the language's own, of this walk */

	__u64 first_sp;             /* where the walk began */
	__u64 gaps[WALK_GAPS];      /* of earlier walks: pages behind stacks that are not there, with bits of
	                             * the process' number below */
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
/* The same from what userspace has published alone: whether a process has a language is known
 * only then. */
int walk_published(struct walk *w);
/* Whether more or other code is mapped than userspace has published. */
int walk_is_stale(struct walk *w);
/* Whether the process may have one of those (1 << enum frame_lang), as far as is known. */
int walk_may_have(struct walk *w, __u32 languages);
/* Of those, the ones that the process is known to have. */
__u32 walk_languages(struct walk *w);
/* Loads the header of the mapping's table. 0, or enum unwind_end + 1. */
int walk_table(struct walk *w);
/* Sets w->rule for w->lookup (0: none), and in_loop, from the table. 0, or enum unwind_end + 1. */
int walk_rule(struct walk *w);
/* Whether addr is in the function of w->lookup, where a row is a function. */
int walk_own(struct walk *w, __u64 addr);
/* What to do about an address or a table that is not known, by enum unwind_end. 0: go
 * on by frame pointer, or enum unwind_end + 1. */
int walk_unknown(struct walk *w, __u32 end);
/* A walk that ended at memory which cannot be read here: userspace shall finish it, if it may ask for that. */
int walk_unreadable(struct walk *w);
/* So many bytes were sent to ask for the process. */
int walk_asked(struct walk *w, __u32 size);
/* Asks for the process; for a walk that has no id which could be mended. */
int walk_send_miss(struct walk *w);
/* From this frame to its caller by w->rule (0: by frame pointer). 0, or
 * enum unwind_end + 1. */
int walk_step(struct walk *w);
/* fsbase, tpidr_el0 of the thread; 0: not known. */
__u64 thread_pointer(void);

static __always_inline __u64 walk_tp(struct walk *w)
{
	if (!w->tp)
		w->tp = thread_pointer();
	return w->tp;
}

/* Whether the frame is code of a LANG_NATIVE language: only the file's table says. */
static __always_inline int in_native_code(struct walk *w)
{
	if (!w->map.file || (w->table_file != w->map.file && walk_table(w)))
		return 0;
	return w->lookup - w->map.bias - w->table_base - w->table_code < w->table_code_size;
}
