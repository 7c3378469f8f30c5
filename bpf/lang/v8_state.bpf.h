/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* v8_state.bpf.h - a walk's memos of V8's frames, and functions that read V8's objects. Part of v8.bpf.c. */
#pragma once
#include "bpf/lib/seen.bpf.h"
#include "bpf/walk/langmaps.bpf.h"
#include "bpf/walk/step.bpf.h"
#include "v8.h"

#define V8_OFFSET_MAX 0xfffff

/* Code positions that were sent, by frame. */
#define V8_SEEN_BUCKETS 8192
SEEN_MAP(v8_seen, V8_SEEN_BUCKETS);

/* The second half has the memos, by a hash. The first half has copies, by the frame's place in the stack: a walk goes
 * through these in order, where the hash has each frame in another line of another page. */
#define V8_MEMO    1024
#define V8_PLACE_SHIFT 6 /* the least frame of a function has about 64 bytes */
#define V8_FAST   3
#define V8_BELOW   48   /* bytes below fp that identify a function's frame */
#define V8_WORDS   16
#define V8_TRUST   1000000 /* ns for which a memo is trusted without a check, see v8_begin() */
#define V8_PAGE    0x40000 /* bytes of a page of V8's heap */
#define CODE_CHUNK 512  /* bytes of code per read */
/* Words searched for the beginning of code; a walk searches twice as many. */
#ifdef NO_BPF_LOOP
#define CODE_WORDS 256
#else
#define CODE_WORDS 8192
#endif
#define V8_AHEAD   48   /* bytes of code that show an interrupted function's progress */

/* A code position that a walk has seen. Objects move and die, and others take their places, so each walk, or
 * each round of walks, checks a memo once. A memo that was checked while V8 was calm stays valid until V8 begins a
 * garbage collection or makes an isolate, see calm_time(). */
struct v8_memo {
	__u64 function; /* JSFunction, or an instance of WebAssembly; 0: the memo is free */
	__u64 where;    /* BytecodeArray; in compiled code the address looked up */
	__u64 frame;    /* 0: no frame is shown */
	__u64 object;   /* SharedFunctionInfo, or an object that read_stream() reads */
	__u64 print;    /* hash of the object: read_shared(), read_code(), read_stream() */
	__u32 offset;   /* the offset in the bytecode, as in the frame; 0: compiled code */
	__u32 round;    /* the round in which it was last checked */
	__u64 who;      /* the process's generation, and the thread */
	__u32 calm;     /* V8's time at the last check; 0: V8 was not calm */
	__u16 sent;     /* userspace has it */
	__u16 in_stream; /* enum v8_in_stream */
};
/* The memo's object: a SharedFunctionInfo, compiled code, or an instance of WebAssembly. */
enum v8_in_stream { V8_SHARED, V8_CODE, V8_INSTANCE };

_Static_assert(sizeof(struct v8_memo) == 64, "a cache line");

/* Contents of a frame that may be a function's. */
struct v8_place {
	__u64 function, bytecode, offset;
	__u64 where;     /* struct v8_memo's where */
	__u64 shared;    /* 0: it was not read */
	__s64 at;        /* offset in the bytecode; -1: none */
	__s64 words;     /* that offset according to the frame's words, for any kind of code */
	__u32 k, compiled;
	__u32 wasm;      /* function is an instance of WebAssembly */
	__u32 pad;
};

struct v8_scratch {
	struct v8_memo memo[V8_MEMO]; /* first: aligned */
	struct v8_record out;
	struct v8_place place; /* the BPF stack is too short for it */
	struct v8_proc proc;   /* the process of this walk; the next members are about its last code */
	__u64 code_start, code_span;
	__u64 blob_start, blob_span, blob_bias;
	__u64 interpreter;    /* address looked up in an interpreted function */
	__u32 blob_file;
	__u32 round;
	__u64 began;          /* the round's start in ns */
	__u64 who;            /* struct v8_memo's who */
	__u64 calm_page;      /* a page of V8's heap that is not marked; 1: none */
	__u32 time;           /* V8's time: 1 + its collections + its isolates; 0: unknown */
	__u32 calm;           /* the walk began in V8's code, not in a collection */
	__u64 words[V8_WORDS];
	__u64 chunk[CODE_CHUNK / 8];
} __attribute__((aligned(64)));

LANG_MAPS(v8)

/* This walk's data, in struct walk's frame_own[]. */
struct v8_walk {
	__u64 asked;  /* fp of the frame for which a window was read */
	__u64 budget; /* words of code that may still be searched */
};
_Static_assert(sizeof(struct v8_walk) <= 8 * FRAME_OWN, "frame_own");

static __always_inline struct v8_walk *own_of(struct walk *w)
{
	return (struct v8_walk *)w->frame_own;
}

/* Tagged pointers end in 01. */
static __always_inline int is_object(__u64 tagged)
{
	return (tagged & 3) == 1;
}

static __always_inline int is_smi(__u64 tagged)
{
	return !(__u32)tagged;
}

/* Returns -1 if it is not an object. Inlined; v8_type_of() is verified once. */
static __always_inline int read_type(__u64 tagged, __u32 map_type)
{
	__u64 map = 0;
	__u16 type = 0;

	if (!is_object(tagged) || read_user(tagged - 1, &map) || !is_object(map) ||
		bpf_probe_read_user(&type, sizeof(type), (void *)(map - 1 + map_type)))
		return -1;
	return type;
}

/* This is a function, so that the verifier checks it once; its callers are not too deep. (v8_type() is
 * userspace's, in the same program on the host.) */
__global int v8_type_of(__u64 tagged, __u32 map_type)
{
	return read_type(tagged, map_type);
}

/* Returns a word of the frame; 0, which is a Smi, if it is not readable. */
__global __u64 v8_slot(struct walk *w, __s32 offset)
{
	__u64 v = 0;

	return w && !walk_word(w, w->fp + offset, &v) ? v : 0;
}

static __always_inline int instance_type(const struct v8_proc *p, __u64 tagged)
{
	return v8_type_of(tagged, p->map_type);
}

static __always_inline __u64 v8_mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}
