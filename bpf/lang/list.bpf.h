/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* list.bpf.h - the code that interpreters share if they keep their frames as a list: a window on the frames, a memo of
 * the code objects that the frames name, the ids and records of code objects. Part of the language's STEM.bpf.c.
 *
 * A frame names a code object (CPython's code, PHP's function) by its address, which may be freed and used again.
 * Records therefore carry an id: a hash of the object's names, the same in all processes. The map STEM_seen leads
 * from an address to the id; an entry is valid only while its cookie is the same, a hash of some words of the
 * object. The object is read once in each walk: the memo keeps the answer for the rest of the walk and saves later
 * walks the lookup in the map.
 *
 * The language first includes its header (struct STEM_proc; struct STEM_code_record, whose hashed words begin at
 * name) and defines:
 *
 *     LIST_STEM         python
 *     LIST_LANG         FRAME_LANG_PYTHON
 *     LIST_UNREADABLE   flag of a record in which only pid, addr and code are set
 *     CODE_BITS         bits of an id
 *     FRAME_BYTES       bytes of a frame that are read
 *     CODE_BYTES        room for the head of a code object, a power of 2
 *     HASH_SECOND, HASH_THIRD   the record's words have three parts; the word, counted from name, at which the
 *                       second and the third part begin
 *     HASH_SECOND_SIZE, HASH_THIRD_SIZE   the members with these parts' sizes; the first part's is name_size
 *     struct STEM_own   its part of the scratch memory
 *     struct STEM_place its part of the place in the list: zero when the walk begins
 *     LIST_MEMO_OWN     its members of the memo, or nothing
 *     LIST_LASTS        number of the values that struct list_last keeps
 *     LIST_COPY(to, from)   copies a struct STEM_proc, if not all of it is always needed
 *     LIST_REST(w, s, frame)   if frames are an array, newest first: bytes from the frame to the end of the array
 *
 * Afterwards it defines the functions that are declared below. */
#pragma once
#include "bpf/lib/seen.bpf.h"
#include "bpf/walk/langmaps.bpf.h"

#define LIST_PASTE_(a, b) a##_##b
#define LIST_PASTE(a, b)  LIST_PASTE_(a, b)
#define LIST(name)        LIST_PASTE(LIST_STEM, name) /* python_name */

#define WINDOW     4096 /* bytes read at once, within a page: the smallest page size */
#define MEMO       256  /* scratch of a CPU is limited to 32 KiB */
#define MEMO_INDEX 512
#define HASH_WORDS 256  /* words of the record whose hash is the id */
#define SEEN_CODES 8192 /* buckets */
#define CODE_MASK  ((1ULL << CODE_BITS) - 1)

#ifndef LIST_COPY
#define LIST_COPY(to, from) (*(to) = *(from))
#endif

struct list_memo {
	__u64 addr; /* address of the code object */
	__u64 cookie;
	__u64 id;
	__u32 pid;
	__u32 walk; /* the walk in which it was last compared */
	LIST_MEMO_OWN
};

/* The value that this walk has read last from an object: neighbours often have the same name, file or class. */
struct list_last {
	__u64 of, value;
	__u32 walk, pad;
};

struct LIST(scratch) {
	__u64 window[WINDOW / 8];
	__u64 code[CODE_BYTES / 8];
	struct LIST(own) own;
	struct list_last last[LIST_LASTS];
	struct LIST(proc) proc; /* the process of this walk */
	__u32 walk;
	__u16 at;   /* the memo that was found last */
	__u16 next; /* the memo that is filled next */
	__u8 index[MEMO_INDEX]; /* memos by a hash of their addresses */
	struct list_memo memo[MEMO] __attribute__((aligned(64)));
	struct LIST(code_record) out;
} __attribute__((aligned(64)));

/* The walk's place in the list: struct list_cursor's own[]. */
struct list_place {
	__u64 window; /* address of the part of the stack that is in the scratch */
	__u64 window_size; /* size of that part in bytes; frames begin at most FRAME_BYTES before its end; 0: none */
	struct LIST(place) own;
};
_Static_assert(sizeof(struct list_place) <= 8 * LIST_OWN, "list.own");

SEEN_OBJECTS_MAP(LIST(seen), SEEN_CODES);

#define LIST_MAPS(stem) LANG_MAPS(stem)
LIST_MAPS(LIST_STEM)

/* ---- the language's functions ---- */

/* Adds bias to a file's addresses that are not 0. */
static __always_inline void move_proc(struct LIST(proc) *p, __u64 bias);
/* Reads one frame, after the window at *start of *size bytes could not be read. Sets both to the part that is in
 * the window; size 0: the part is valid only for this frame. Returns 0 on success, -1 on failure. */
static __always_inline int read_alone(struct LIST(scratch) *s, __u64 frame, __u64 *start, __u64 *size);
/* Fills in the names of the code object in s->out; the object's head is in s->code if it was readable. Returns 0, or
 * -1 if something was not readable; all sizes are 0 then. */
static __always_inline int name_code(struct LIST(scratch) *s, __u64 addr, int readable);
/* Returns the id of the code object in s->out. */
static __always_inline __u64 code_hash(struct LIST(scratch) *s);
/* Returns the number of bytes of the record that are filled. */
static __always_inline __u32 record_size(const struct LIST(code_record) *r);

/* ---- reading ---- */

/* Returns the field at byte `at` of a buffer of mask + 1 bytes in the low bits of the result. No
 * field straddles two words. */
static __always_inline __u64 load(const __u64 *buf, __u64 at, __u64 mask)
{
	__u64 i = (at & mask) >> 3;

	FORGET(i);
	return buf[i & mask >> 3] >> ((at & 7) * 8);
}

/* Returns a whole word at a multiple of 8, which is fast. */
static __always_inline __u64 load_word(const __u64 *buf, __u64 at, __u64 mask)
{
	at >>= 3;
	FORGET(at);
	return buf[at & mask >> 3];
}

#define frame_load(s, at) load((s)->window, at, WINDOW - 1)
#define frame_word(s, at) load_word((s)->window, at, WINDOW - 1)
#define code_load(s, at)  load((s)->code, at, CODE_BYTES - 1)
#define code_word(s, at)  load_word((s)->code, at, CODE_BYTES - 1)

static __always_inline int read_word(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr);
}

/* ---- the process ---- */

/* Copies the process's row to s->proc. A process that userspace has not published gets the row of `file` (0:
 * unknown). Returns 0 on success, -1 on failure. */
static __always_inline int find_proc(struct walk *w, struct LIST(scratch) *s, __u32 file, __u64 bias)
{
	__u32 pid = w->pid;
	struct LIST(proc) *p = bpf_map_lookup_elem(&LIST(procs), &pid);

	if (p) {
		LIST_COPY(&s->proc, p);
		return 0;
	}
	p = file ? bpf_map_lookup_elem(&LIST(files), &file) : NULL;
	if (!p)
		return -1;
	LIST_COPY(&s->proc, p);
	move_proc(&s->proc, bias);
	return 0;
}

#ifndef STRATA_HOST
__global int LIST(meet)(struct walk *w)
{
	struct LIST(scratch) *s = w ? scratch_of(w) : NULL;
	__u32 pid = w ? w->pid : 0;

	if (s && !bpf_map_lookup_elem(&LIST(procs), &pid) && !find_proc(w, s, w->map.file, w->map.bias))
		bpf_map_update_elem(&LIST(procs), &pid, &s->proc, BPF_NOEXIST);
	return 0;
}
#endif

static __always_inline struct list_place *place_of(struct walk *w)
{
	return (struct list_place *)w->list.own;
}

/* Begins a walk. Returns NULL if the process does not run the language. */
static __always_inline struct LIST(scratch) *begin(struct walk *w)
{
	struct LIST(scratch) *s;

	w->list.begun = 1;
	w->list.frame = 0;
	place_of(w)->window_size = 0;
	place_of(w)->own = (struct LIST(place)){};
	s = scratch_of(w);
#ifdef STRATA_HOST
	if (w->flags & WALK_LATE) /* the list may have changed since */
		return NULL;
#endif
	if (!s || find_proc(w, s, w->list.file, w->list.bias))
		return NULL;
	w->list.begun = LIST_HAS_LANG;
	s->walk++;
	return s;
}

/* ---- ids of code ---- */

struct list_hash {
	struct LIST(code_record) *r;
	__u64 h;
};

/* Hashes one word of the record's parts, which follow each other; the bytes after the end of each are stale. */
__round __u64 LIST(add_word)(struct LIST(code_record) *r, __u32 i, __u64 h)
{
	__u64 left, word;

	if (LACKS(r))
		return h;
	if (i < HASH_SECOND)
		left = r->name_size - 8ULL * i;
	else if (i < HASH_THIRD)
		left = r->HASH_SECOND_SIZE - 8ULL * (i - HASH_SECOND);
	else
		left = r->HASH_THIRD_SIZE - 8ULL * (i - HASH_THIRD);
	if ((__s64)left <= 0)
		return h;
	word = load_word(r->name, 8 * i, 8 * HASH_WORDS - 1);
	if (left < 8)
		word &= (1ULL << (left * 8)) - 1;
	return seen_mix(h, word);
}

static long hash_word(__u32 i, void *data)
{
	struct list_hash *hash = data;

	hash->h = LIST(add_word)(hash->r, i, hash->h);
	return 0;
}

/* These are functions, so that the verifier checks them once. */
__global __u64 LIST(known_id)(__u64 hash)
{
	return seen_id(seen_objects(&LIST(seen), SEEN_CODES, hash), hash);
}

__global int LIST(add_id)(__u64 hash, __u64 id)
{
	seen_add_id(seen_objects(&LIST(seen), SEEN_CODES, hash), hash, id);
	return 0;
}

/* Sends the names of a code object to userspace. Pages that are not resident cannot be read here: the id is then
 * provisional, userspace reads the process instead (which brings the pages in), and the next walk tries again.
 * Returns the id, and in *seen whether it is final. */
static __always_inline __u64 first_sight(struct walk *w, struct LIST(scratch) *s, __u64 addr, __u64 cookie,
	int readable, int *seen)
{
	struct LIST(code_record) *r = &s->out;

	r->head.head.kind = RECORD_LANG;
	r->head.head.id = LIST_LANG;
	r->head.time = 0;
	r->head.pid = w->pid;
	if (!name_code(s, addr, readable)) {
		r->flags = 0;
		r->code = code_hash(s);
		*seen = 1;
	} else {
		r->flags = LIST_UNREADABLE;
		r->code = seen_mix(seen_mix(cookie, addr), w->pid) & CODE_MASK;
		*seen = 0;
	}
	if (ring_output(r, record_size(r)))
		*seen = 0;
	return r->code;
}

/* Returns the id from STEM_seen, or sends the code object. Sets *seen if the id is final, else clears it. */
static __always_inline __u64 find_code(struct walk *w, struct LIST(scratch) *s, __u64 addr, __u64 cookie,
	int readable, int *seen)
{
	__u64 hash = seen_hash(addr, w->pid, cookie), id;

	id = readable ? LIST(known_id)(hash) : 0;
	if (id) {
		*seen = 1;
		return id;
	}
	id = first_sight(w, s, addr, cookie, readable, seen);
	if (*seen)
		LIST(add_id)(hash, id);
	return id;
}

/* ---- the memo ---- */

/* Memos are in the order in which a walk first met their objects. The next frame's is thus usually the next one, which
 * the processor has read ahead. */

/* Returns the number of the memo of the object at addr, or of one to fill, which is not of this walk: if there is none,
 * the last one again. A function of its own, so that the verifier follows its branches once and not at each use. */
__global __u32 LIST(find_memo)(struct LIST(scratch) *s, __u64 addr)
{
	__u64 h = addr * 0x9e3779b97f4a7c15 >> 32, k;

	if (!s)
		return 0;
	k = s->at;
	if (s->memo[k & (MEMO - 1)].addr == addr || s->memo[++k & (MEMO - 1)].addr == addr)
		return k;
	k = s->index[h & (MEMO_INDEX - 1)];
	if (s->memo[k & (MEMO - 1)].addr == addr)
		return k;
	k = s->next & (MEMO - 1);
	if (s->memo[k & (MEMO - 1)].walk == s->walk)
		return s->at;
	s->next = k + 1;
	s->index[h & (MEMO_INDEX - 1)] = k;
	return k;
}

/* Returns the memo that memo_of() found last. */
static __always_inline struct list_memo *this_memo(struct LIST(scratch) *s)
{
	__u32 k = s->at;

	FORGET(k);
	return &s->memo[k & (MEMO - 1)];
}

/* Returns the memo of the object at addr, or the one to fill. Until it is called for another one, it returns this one
 * again. */
static __always_inline struct list_memo *memo_of(struct LIST(scratch) *s, __u64 addr)
{
	s->at = LIST(find_memo)(s, addr);
	return this_memo(s);
}

/* Returns whether it is the memo of the object at addr and was compared in this walk. */
static __always_inline int is_fresh(const struct list_memo *m, const struct LIST(scratch) *s, __u64 addr)
{
	return m->addr == addr && m->walk == s->walk;
}

/* Returns whether the memo of an earlier walk is still valid; if it is, it stays valid for the rest of this walk. */
static __always_inline int refresh(struct list_memo *m, struct walk *w, const struct LIST(scratch) *s, __u64 addr,
	__u64 cookie)
{
	if (m->addr != addr || m->pid != w->pid || m->cookie != cookie)
		return 0;
	m->walk = s->walk;
	return 1;
}

/* ---- the last values ---- */

static __always_inline int has_last(const struct LIST(scratch) *s, int which, __u64 of)
{
	return s->last[which].of == of && s->last[which].walk == s->walk;
}

/* Returns the value. */
static __always_inline __u64 set_last(struct LIST(scratch) *s, int which, __u64 of, __u64 value)
{
	s->last[which] = (struct list_last){ of, value, s->walk };
	return value;
}

/* ---- the window ---- */

#ifdef LIST_REST
/* Sets the part of the stack to read for the frame: this one and the next ones, which lie after it. */
static __always_inline void window_of(struct walk *w, struct LIST(scratch) *s, __u64 frame, __u64 *start, __u64 *size)
{
	__u64 rest = LIST_REST(w, s, frame);

	*start = frame;
	*size = rest < FRAME_BYTES ? FRAME_BYTES : rest > WINDOW ? WINDOW : rest;
}
#else
/* Sets the part of the stack to read for the frame: this one and the next ones, which lie before it. It starts at the
 * beginning of the frame's page: the page before may be missing, and a read that faults costs as much as ten others. */
static __always_inline void window_of(struct walk *w, struct LIST(scratch) *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame & ~(WINDOW - 1ULL);
	*size = frame - *start + FRAME_BYTES;
	if (*size > WINDOW) { /* the frame ends in the next page, or pages are larger */
		*start = (frame + FRAME_BYTES - WINDOW + 63) & ~63ULL;
		*size = WINDOW;
	}
}
#endif

/* Reads the frame into the window, together with the next frames. Returns 0 on success, -1 on failure. */
__global int LIST(window)(struct walk *w, struct LIST(scratch) *s, __u64 frame)
{
	__u64 start, size;

	if (!w || !s)
		return -1;
	window_of(w, s, frame, &start, &size);
	if (bpf_probe_read_user(s->window, size & (2 * WINDOW - 1), (const void *)start) &&
		read_alone(s, frame, &start, &size))
		return -1;
	place_of(w)->window = start;
	place_of(w)->window_size = size;
	return 0;
}

/* Returns the frame's offset in s->window, or -1 if it is not readable. */
static __always_inline __s64 frame_at(struct walk *w, struct LIST(scratch) *s, __u64 frame)
{
	const struct list_place *at = place_of(w);

	if ((frame - at->window > at->window_size - (__u64)FRAME_BYTES || !at->window_size) &&
		LIST(window)(w, s, frame))
		return -1;
	return (__s64)(frame - at->window);
}
