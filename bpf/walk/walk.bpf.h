/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* walk.bpf.h - the state of a walk, and functions that read the stack.
 *
 * There is one struct walk per scratch slot and CPU, in map memory. A value loaded from there is unknown to
 * the verifier, so no two paths differ, and each function is verified once, in a few hundred instructions. */
#pragma once
#include "bpf/lib/maps.bpf.h"
#include "unwind.h"

extern const volatile struct unwind_config unwind_config;

#define WINDOW_BYTES 2048
#define WINDOW_WORDS (WINDOW_BYTES / 8)
#define PAGE         4096 /* the smallest page size */
#define LANG_MORE    1 /* result of STEM_frames(): it may be called again; no address is 1 */
#define WINDOW_NONE  1 /* no aligned address is within the window */

enum walk_flags {
	WALK_EXACT = 1,     /* pc is about to run: not a return address */
	WALK_REGS = 2,      /* regs[] are this frame's */
	WALK_NO_WINDOW = 4, /* a window was unreadable: read word by word */
	WALK_GUESSED = 8,   /* only the frame pointer led to this frame */
	WALK_BLIND = 16,    /* mappings are unknown, and the walk no longer asks userspace */
	WALK_LR = 32,       /* arm64: lr is this frame's */
	WALK_ASK = 64,      /* userspace shall finish the walk */
	WALK_RBX = 128,     /* regs[RULE_REG_RBX] is this frame's */
	WALK_LATE = 512,    /* host: the process has continued; its stack is a copy, other memory is not */
	WALK_BODY = 256,    /* arm64: stopped by Go's runtime: not in a prologue or an epilogue */
};

/* The walk's place in a LANG_LIST language's list of frames. */
#define LIST_BATCH 8
#define LIST_OWN   8
struct list_cursor {
	__u32 lang;   /* enum frame_lang; 0: none yet */
	__u32 begun;  /* STEM_begin() was called; LIST_HAS_LANG: also, the process has the language; LIST_IN_LOOPS: only
	               * frames of the interpreter's loop lead to its list */
	__u64 bias;   /* bias of the file with the interpreter's loop */
	__u32 file;   /* number of that file; 0: unknown */
	__u16 ended;  /* the last frame was its activation's last */
	__u16 shown;  /* a frame of this activation was shown */
	__u64 frame;  /* the next frame: an address, or a value of the language; 0: none */
	__u64 entry;  /* after STEM_next() returned 0: an address in the C frame that ran the frames of this
	               * activation; 0: unknown. If the address is in another frame, the frames are not that
	               * activation's */
	__u64 in_c;   /* number of the frames since list_tail() that no loop runs, because they stand for C */
	__u64 newest; /* entry of the first activation, if boundaries between frames do not give it */
	__u16 guess;  /* of a repeated walk: a value of the language, not 0; see walk_again() */
	__u16 if_more, if_less; /* the guess with which the walk is repeated if the list has more, or fewer, activations
	                         * than there are loops; 0: none */
	__u16 pad;
	__u64 own[LIST_OWN]; /* the language's own data, zero at the walk's start */
	__u64 batch[LIST_BATCH];
};
#define LIST_HAS_LANG 2
#define LIST_IN_LOOPS 4

#define FRAME_OWN 4
#define WALK_GAPS 8
#define MAPPINGS_OLDER 2

struct walk {
	__u64 window[WINDOW_WORDS]; /* first: 64-byte aligned, so that copies are fast */
	__u64 window_at;            /* address of the window's first byte; WINDOW_NONE */

	__u64 own;                  /* lr is in the function of pc: walk_lr() */
	struct { /* for walk_own(): the BPF stack is too short */
		__u32 file, page, last; /* the next page, and addr's */
		__u32 low;              /* addr's offset in its page */
		__u32 rule;             /* index of the function's rule */
		int own;
	} search;
	__u64 pc_mask;              /* arm64: mask of the address in a return address */
	__u64 pc, sp, fp, lr;
	__u64 g;                    /* arm64: the thread's x28: Go's g */
	__u64 lookup;               /* the address looked up: pc or pc - 1 */
	__u64 regs[16];             /* by enum rule_reg: the frame's, if known */
	__u32 flags;                /* enum walk_flags */
	__u32 machine;              /* host only: EM_X86_64, EM_AARCH64 */
	__u32 switches;             /* number of steps to a lower stack address */
	__u32 pid;

	struct mapping map;         /* mapping of lookup; start == end: none */
	struct mapping before;      /* the mapping that this walk was in before map, or none */
	struct mapping older[MAPPINGS_OLDER]; /* the mappings before these two, the latest first, or none */
	__u64 kept_version;         /* of all these mappings: see MAPPING_VERSIONS */
	__u32 kept_pid;             /* the process that has published all these mappings; 0: none */
	__u32 kept_pad;
	__u64 cached_span;          /* bytes of map whose rules may be in the cache: all or 0 */
	__u64 rule;
	__u32 in_loop, pad;         /* lookup is in an interpreter's loop */

	/* The table's header, of file table_file (0: none). */
	__u64 table_base;
	__u32 table_file;
	__u32 table_npages, table_rules, table_pages, table_rows, table_nranges;
	__u64 table_code, table_code_size; /* code of a LANG_NATIVE language */
	struct {
		__u32 start, end;
	} range[TABLE_RANGES];

	__u64 hash;
	__u32 nr, limit;
	__u32 filter, store;        /* see struct stack_req; 1: frames are stored, not only counted */
	__u32 store_mask;           /* mask of the index into frames[]: ~0 stores, 0 only counts */
	__u32 end;                  /* enum unwind_end + 1; 0: the walk continues */
	__u32 cause;                /* a language's error, or something unknown: enum unwind_end */
	__u32 slot;                 /* index in the maps of scratch memory: CPU and slot */
	__u64 tp;                   /* thread pointer; 0: walk_tp() finds it */
	__u32 tid;

	/* ---- a language of kind LANG_LIST ---- */
	__u32 list_emitted;         /* frames of this activation */
	__u32 list_in;              /* inside an activation */
	__u32 list_any;             /* the thread has frames of the language */
	__u32 list_nr, list_cause;  /* their values when the activation was entered */
	__u64 list_hash, list_frame, list_newest; /* their values when the activation was entered */
	struct list_cursor list;

	/* ---- a language of kind LANG_FRAME ---- */
	__u32 frame_lang;           /* language of the frame before: enum frame_lang, or 0 */
	__u32 frame_begun;          /* the language that uses frame_own[] */
	__u64 frame_own[FRAME_OWN]; /* that language's own data, of this walk */

	__u64 first_sp, first_pc;   /* sp and pc at the walk's beginning */
	__u64 back;                 /* bytes by which the walk begins before pc */
	__u64 gaps[WALK_GAPS];      /* from earlier walks: missing pages after stacks, with the low bits of the pid
	                             * below */
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

/* Copies to the window: 2 KiB cost little more than a word, and most frames are found in it. This is the slow
 * path of walk_word(). Returns 0 on success, -1 on failure. */
int walk_refill(struct walk *w, __u64 addr, __u64 *ret);

/* Reads the word at addr. Returns 0 on success, -1 on failure. */
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

/* Returns the word at an offset, which the mask limits. */
static __always_inline __u64 window_word(struct walk *w, __u64 off)
{
	FORGET(off);
	return w->window[off >> 3 & (WINDOW_WORDS - 1)];
}

/* Sets w->map for w->lookup. Returns 0 on success, enum unwind_end + 1 on failure. */
int walk_mapping(struct walk *w);
/* Sets w->map only from userspace's mappings: no other source says whether the process has a language. */
int walk_published(struct walk *w);
/* Returns whether the process has mapped more or other code than userspace has published. */
int walk_is_stale(struct walk *w);
/* Returns whether the process may have one of these languages (1 << enum frame_lang), as far as is known. */
int walk_may_have(struct walk *w, __u32 languages);
/* Returns the languages that the process is known to have. */
__u32 walk_languages(struct walk *w);
/* Returns the start, or the end, of libpcre2's code in the process; 0: there is none. */
__u64 walk_pcre(struct walk *w, int end);
/* Loads the header of the mapping's table. Returns 0 on success, enum unwind_end + 1 on failure. */
int walk_table(struct walk *w);
/* Sets w->rule for w->lookup (0: none), and in_loop, from the table. Returns 0 on success, enum unwind_end + 1 on
 * failure. */
int walk_rule(struct walk *w);
/* Returns whether addr is in the function of w->lookup, if a row is a function. */
int walk_own(struct walk *w, __u64 addr);
/* Handles an unknown address or table, by enum unwind_end. Returns 0 to continue by frame
 * pointer, or enum unwind_end + 1. */
int walk_unknown(struct walk *w, __u32 end);
/* Asks userspace to finish a walk that ended at memory which is not readable here, if it may ask. */
int walk_unreadable(struct walk *w);
/* Counts the bytes that were sent to ask for the process. */
int walk_asked(struct walk *w, __u32 size);
/* Asks only for the process: for a walk whose id cannot be replaced. */
int walk_send_miss(struct walk *w);
/* Steps from this frame to its caller by w->rule (0: by frame pointer). Returns 0 on success, enum unwind_end + 1
 * on failure. */
int walk_step(struct walk *w);
/* Returns fsbase or tpidr_el0 of the thread, or 0 if it is unknown. */
__u64 thread_pointer(void);
/* Puts pc back from the copy of a probed instruction to the instruction's own place. Returns 0. */
int walk_leave_copy(struct walk *w);

static __always_inline __u64 walk_tp(struct walk *w)
{
	if (!w->tp)
		w->tp = thread_pointer();
	return w->tp;
}

/* Returns whether the frame is code of a LANG_NATIVE language, which only the file's table shows. */
static __always_inline int in_native_code(struct walk *w)
{
	if (!w->map.file || (w->table_file != w->map.file && walk_table(w)))
		return 0;
	return w->lookup - w->map.bias - w->table_base - w->table_code < w->table_code_size;
}
