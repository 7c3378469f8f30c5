/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* python_state.bpf.h - the memory that a walk uses for CPython's frames, and the search for a thread's state. Part of
 * python.bpf.c. */
#pragma once
#include "python.h"

#define LIST_STEM       python
#define LIST_LANG       FRAME_LANG_PYTHON
#define LIST_UNREADABLE PYTHON_UNREADABLE
#define CODE_BITS       PYTHON_CODE_BITS
#define FRAME_BYTES     128 /* bytes of a frame that any version needs */
#define CODE_BYTES      256
#define LIST_MEMO_OWN   __u64 stamp; /* own.stamp when the code object was compared */
#define LIST_LASTS      0

/* The id is a hash of these: name, file, the first 512 bytes of the line table. */
#define HASH_SECOND (PYTHON_NAME_MAX / 8)
#define HASH_THIRD  (HASH_SECOND + PYTHON_FILE_MAX / 8)
#define HASH_SECOND_SIZE file_size
#define HASH_THIRD_SIZE  linetable_size

struct python_own {
	__u64 str[64 / 8];
	__u64 main_interp; /* the first interpreter of that process, which no other one runs */
	__u64 main_pid;
	__u64 stamp; /* of this walk: a hash of the number of code objects that the interpreter has made; 0: unknown */
};

struct python_place {
	__u64 before; /* the cframe before list.frame's, while list.frame is not certain */
	__u64 interp; /* interpreter of the list; 0: unknown, or there is no outer one */
};

#include "list.bpf.h"

_Static_assert(HASH_WORDS == HASH_THIRD + 512 / 8, "a power of 2");

#define STATE_BYTES 192 /* bytes of a thread state that any version needs */
#define COOKIE_MAX  8
#define KEYS_MAX    1024
#define NEAR        4096
#define LASTI_MAX   0xfffff
#define CODE_HIDDEN 1 /* id of code that Python's own tracebacks omit */
#define MODULES_MAX 4096
#define STATES_MAX  512 /* thread states examined, of all interpreters */
#define TLS_MAX     (4 << 20) /* size of a thread's variables; the lowest address of a program */

#define str_load(s, at) load((s)->own.str, at, 63)

/* ---- the thread's state ---- */

/* Returns whether the state belongs to this thread: the GIL's holder may be another one. Its thread_id is
 * pthread_self(), which is the thread pointer or, on arm64, some hundred bytes below; another thread's
 * pointer is at least a stack's size away. */
static __always_inline int is_own(const struct python_proc *p, __u64 tp, __u64 tstate)
{
	__u64 id = 0;

	return tstate && !read_word(tstate + p->at.tstate_thread_id, &id) &&
	       tp - id + NEAR <= 2 * NEAR;
}

/* Tests that a state is this thread's; if so, its words are in s->code. */
static __always_inline int take_own(struct python_scratch *s, __u64 tp, __u64 tstate)
{
	return tstate && !bpf_probe_read_user(s->code, STATE_BYTES, (const void *)tstate) &&
	       tp - code_load(s, s->proc.at.tstate_thread_id) + NEAR <= 2 * NEAR;
}

/* Computes pthread_getspecific() on the thread's memory. */
static __always_inline __u64 thread_specific(const struct python_proc *p, __u64 tp)
{
	__u64 word = 0, block = tp + (__u64)(__s64)p->at.tsd_first, key;

	if (!p->tss_key || read_word(p->tss_key, &word) || (!p->at.tss_bare && !(__u32)word))
		return 0;
	key = p->at.tss_bare ? (__u32)word : word >> 32;
	if (key >= KEYS_MAX)
		return 0;
	if (key >= p->at.tsd_inline) {
		__u64 at = tp + (__u64)(__s64)p->at.tsd_blocks;
		__u32 shift = p->at.tsd_block_shift & 31;

		if (read_word(at + 8 * (key >> shift), &block) || !block)
			return 0;
		key &= (1ULL << shift) - 1;
	}
	word = 0;
	read_word(block + (key << (p->at.tsd_entry_shift & 7)) + p->at.tsd_value, &word);
	return word;
}

/* Returns the thread's block of a module that was opened at run time, or was compiled for that. */
static __always_inline __u64 module_block(const struct python_proc *p, __u64 tp, __u64 module)
{
	__u64 at = tp + (__u64)(__s64)p->at.dtv, block = 0;

	if (module >= MODULES_MAX || read_word(at, &at) ||
		read_word(at + (module << (p->at.dtv_shift & 7)), &block))
		return 0;
	return block;
}

__global __u64 python_thread_local(struct python_scratch *s, __u64 tp, __u32 own)
{
	__u64 pair[2] = {}, base = tp, at, value = 0;
	const struct python_proc *p;
	struct python_tls *tls;

	if (!s)
		return 0;
	p = &s->proc;
	tls = own ? &s->proc.own : &s->proc.attached;
	at = tls->at;
	if (tls->kind == PYTHON_TLS_NONE)
		return 0;
	if (tls->kind != PYTHON_TLS_OFFSET) {
		if (bpf_probe_read_user(pair, tls->kind == PYTHON_TLS_SLOT ? 8 : 16, (void *)at))
			return 0;
		at = pair[tls->kind == PYTHON_TLS_DESC];
	}
	/* A descriptor's argument is the offset itself, or the address of a pair. */
	if (tls->kind == PYTHON_TLS_PAIR || (tls->kind == PYTHON_TLS_DESC && at + TLS_MAX >= 2 * TLS_MAX)) {
		if (tls->kind == PYTHON_TLS_DESC && bpf_probe_read_user(pair, 16, (void *)at))
			return 0;
		base = module_block(p, base, pair[0]);
		at = pair[1];
		if (!base)
			return 0;
	}
	read_word(base + at + (__u64)(__s64)tls->add, &value);
	return value;
}

/* Returns 0 if there is none, or it is not readable. */
static __always_inline __u64 newest_frame(const struct python_layout *at, __u64 tstate)
{
	__u64 frame = 0;

	if (at->tstate_cframe && read_word(tstate + at->tstate_cframe, &tstate))
		return 0;
	read_word(tstate + at->current_frame, &frame);
	return frame;
}

struct states {
	__u64 tp, interp, tstate, found;
};

struct state_search {
	struct python_scratch *s;
	struct states at;
};

/* Returns 1 at the end of the search. */
__round int python_next_state(struct python_scratch *scratch, struct states *s)
{
	const struct python_layout *at;

	if (LACKS(scratch) || LACKS(s))
		return 1;
	at = &scratch->proc.at;
	if (s->tstate && is_own(&scratch->proc, s->tp, s->tstate) && newest_frame(at, s->tstate)) {
		s->found = s->tstate;
		return 1;
	}
	if (s->tstate)
		return !!read_word(s->tstate + at->tstate_next, &s->tstate);
	if (!s->interp || read_word(s->interp + at->interp_threads, &s->tstate) ||
		read_word(s->interp + at->interp_next, &s->interp))
		return 1;
	return 0;
}

static long look_at_state(__u32 i, void *data)
{
	struct state_search *search = data;

	return python_next_state(search->s, &search->at);
}

/* Returns a state of this thread that has frames, searching from search.interp on, or 0 if there is none. Up
 * to Linux 6.6 the verifier checks only one round of the loop and would remove code for a state of 0: a
 * helper writes that 0, so that its value is unknown. */
static __always_inline __u64 find_state(struct state_search *s)
{
	__u64 none = 0;

	bpf_probe_read_kernel(&s->at.tstate, sizeof(none), &none);
	bpf_loop(STATES_MAX, look_at_state, s, 0);
	return s->at.found;
}

/* Up to 3.11 tss_key always keeps a thread's first state, even while the thread is in a sub-interpreter.
 * Interpreters are listed newest first, and the running one has frames in this thread. */
__global __u64 python_with_frames(struct python_scratch *s, __u64 tp)
{
	struct state_search search = {};
	__u64 second = 0;

	if (!s)
		return 0;
	search.s = s;
	search.at.tp = tp;
	if (!s->proc.interpreters || read_word(s->proc.interpreters, &search.at.interp) ||
		read_word(search.at.interp, &second) || !second)
		return 0;
	return find_state(&search);
}

/* Leaves the thread's state in s->code. Returns 0 on success, -1 on failure. */
static __always_inline int thread_state(struct walk *w, struct python_scratch *s)
{
	const struct python_proc *p = &s->proc;
	__u64 tp = w->tp, tstate;

	if (p->attached.kind != PYTHON_TLS_NONE && take_own(s, tp, python_thread_local(s, tp, 0)))
		return 0;
	if (p->own.kind != PYTHON_TLS_NONE && take_own(s, tp, python_thread_local(s, tp, 1)))
		return 0;
	if (p->tstate_current && !read_word(p->tstate_current, &tstate) && take_own(s, tp, tstate))
		return 0;
	tstate = python_with_frames(s, tp);
	if (!tstate)
		tstate = p->at.has_tsd ? thread_specific(p, tp) : 0;
	return take_own(s, tp, tstate) ? 0 : -1;
}
