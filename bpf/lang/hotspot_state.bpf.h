/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_state.bpf.h - a walk's memos of HotSpot's frames, and the code cache of a process. Part of
 * hotspot.bpf.c. */
#pragma once
#include "bpf/lib/seen.bpf.h"
#include "bpf/walk/langmaps.bpf.h"
#include "bpf/walk/step.bpf.h"
#include "hotspot.h"

/* Code positions that were sent, by frame. */
#define HOTSPOT_SEEN_BUCKETS 8192
SEEN_MAP(hotspot_seen, HOTSPOT_SEEN_BUCKETS);

#define HOTSPOT_MEMO  1024 /* two halves: a code position has one slot in each */
#define HOTSPOT_HEAPS 4    /* HotSpot makes at most 3, from JDK 26 on 4 */
#define HOTSPOT_HOPS  40   /* steps in a segment map: JDK 8 needs up to 36 */
#define HOTSPOT_TRUST 1000000 /* ns for which a memo is trusted without a check */
#define HOTSPOT_FAST  4
#define HOTSPOT_BELOW 72 /* bytes below fp that identify an interpreted frame */
#define HOTSPOT_WORDS 64   /* of a blob's header: nmethod has at most 352 bytes */
#define HOTSPOT_FRAME_MAX (1 << 20) /* bytes of a frame */
#define HOTSPOT_LOCALS_MAX (64 << 10) /* bytes between an interpreted frame and its caller's sp: see is_jumped_to() */
#define HOTSPOT_TAIL   32  /* bytes at the end of a class's name that identify the class */
#define HOTSPOT_INSNS  20  /* arm64: the same, in instructions, from two before pc on */
#define HOTSPOT_AROUND 48  /* bytes of code that show an interrupted method's progress, from 32 before pc on */

struct hotspot_heap {
	__u64 low, span; /* addresses of code; span 0: none */
	__u64 segmap;
	__u32 shift, pad;
};

/* The blob of a pc. */
struct hotspot_blob {
	__u64 at, code;  /* CodeBlob *, its first instruction */
	__u64 name;      /* address of its name */
	__u64 method;    /* Method *; 0: none */
	__u64 deopt, deopt_mh; /* addresses of its deoptimisation handlers; 0: none */
	__u32 size;      /* of its frames in bytes; 0: unknown */
	__u32 complete;  /* distance from code to the place where the frame is complete */
	__u32 compile_id;
	__u32 orig_pc;   /* distance from sp to the original pc of a deoptimised frame */
	__u32 kind;      /* enum hotspot_kind */
	__u32 sort;      /* enum hotspot_sort */
};

/* Sorts of code that the steps to the caller differ in. */
enum hotspot_sort {
	SORT_SIZED,       /* frames of a known size */
	SORT_STUB,        /* leaf code, or a frame with a frame pointer */
	SORT_LEAF,        /* a stub without a size that is not one of StubRoutines */
	SORT_JUMP,        /* no frame: method handles, vtable stubs */
	SORT_ADAPTER,     /* no frame, and arguments are moved: between compiled code and the interpreter */
	SORT_INTERPRETER,
	SORT_BARRIER,     /* of virtual threads */
	SORT_DEOPT,       /* memo: a deoptimisation handler; frame has the distance of the original pc from sp */
};

/* A code position that a walk has seen. Methods are unloaded and others take their places, so each walk, or each
 * round of walks, checks a memo once. */
struct hotspot_memo {
	__u64 key;    /* compiled: return address; interpreted: address of the bytecode; 0: the memo is free */
	__u64 object; /* CodeBlob, or Method */
	__u64 frame;  /* 0: none is shown */
	__u64 print;  /* hash of the method, compile_id, or address of the blob's name: method_print() */
	__u32 generation; /* hotspot_proc's */
	__u32 round;  /* the round in which it was last checked */
	__u32 size;   /* bytes of the frame; 0: by frame pointer */
	__u16 sort;   /* enum hotspot_sort */
	__u16 sent;   /* userspace has it */
	__u16 kind;   /* enum hotspot_kind */
	__u16 bci;    /* interpreted: the position in the bytecode */
	__u16 pad[2];
	__u64 pad2;
};
_Static_assert(sizeof(struct hotspot_memo) == 64, "a cache line");

/* How the caller of a frame is found. */
enum hotspot_step {
	STEP_STOP,     /* a stack that goes on in the heap */
	STEP_SIZE,     /* CFA = sp + size, RA and fp below it */
	STEP_SIZE_FP,  /* the same, but fp is not saved yet */
	STEP_TOP,      /* RA at sp + size, which is 0 or 8: then fp is at sp */
	STEP_FP,       /* fp and RA at fp */
	STEP_SENDER,   /* fp and RA at fp, and sp below it */
	STEP_GIVEN,    /* pc, sp and fp as given */
	STEP_UNKNOWN,
};

/* The frame of the walk. */
struct hotspot_place {
	__u64 pc, sp, fp, serial; /* the frame for which it was found */
	__u64 frame;
	__u64 method, bci;
	__u64 to_pc, to_sp, to_fp; /* STEP_GIVEN */
	__u64 real;         /* pc, or the original pc of a deoptimised frame */
	__u32 size;
	__u32 step;         /* enum hotspot_step */
	__u32 k;            /* number of its memo */
	__u32 exact;
	__u32 kind, pad;
};

struct hotspot_scratch {
	struct hotspot_memo memo[HOTSPOT_MEMO]; /* first: aligned */
	struct hotspot_record out;
	struct hotspot_place place; /* the BPF stack is too short for them */
	struct hotspot_blob blob;
	struct hotspot_proc proc;   /* the process of this walk, with heap[] */
	struct hotspot_heap heap[HOTSPOT_HEAPS];
	__u32 pid;
	__u32 round;
	__u64 began;          /* the round's start in ns */
	/* The method that was read last: its ConstMethod, ConstantPool, class, bytecode, and index of its name. */
	__u64 constant, pool, holder, base;
	__u32 code_size, name_index;
	__u64 serial;         /* counts walks */
	__u64 words[HOTSPOT_WORDS];
	__u64 chunk[HOTSPOT_AROUND / 8];
	__u32 insns[HOTSPOT_INSNS];
	__u64 name[3];
	__u64 tail[HOTSPOT_TAIL / 8];
} __attribute__((aligned(64)));

LANG_MAPS(hotspot)

/* This walk's data, in struct walk's frame_own[]. */
struct hotspot_walk {
	__u64 serial;
	__u64 asked; /* fp of the frame for which a window was read */
};
_Static_assert(sizeof(struct hotspot_walk) <= 8 * FRAME_OWN, "frame_own");

static __always_inline struct hotspot_walk *own_of(struct walk *w)
{
	return (struct hotspot_walk *)w->frame_own;
}

/* arm64: stp xA, xB, [sp, #-16]! and ldp xA, xB, [sp], #16. */
#define A64_PAIR_MASK 0xffff83e0U
#define A64_PUSH_PAIR 0xa9bf03e0U
#define A64_POP_PAIR  0xa8c103e0U

static __always_inline __u32 read_u32(__u64 addr, __u32 *ret)
{
	return bpf_probe_read_user(ret, 4, (void *)addr);
}

/* Returns the bytes from an offset on in words[], whose number is in the caller's mask. They do not cross a word. */
static __always_inline __u64 field(const struct hotspot_scratch *s, __u32 offset)
{
	__u64 i = offset >> 3;

	FORGET(i);
	return s->words[i & (HOTSPOT_WORDS - 1)] >> ((offset & 7) * 8);
}
