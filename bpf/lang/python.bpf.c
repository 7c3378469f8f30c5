// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* python.bpf.c - the kernel half of src/unwinders/python/python.c: CPython's frames.
 *
 * Layouts are data (python.h). This file knows only how the objects of CPython 3.6 to 3.15 refer to each
 * other: Include/internal/pycore_frame.h, Include/cpython/pystate.h and code.h at v3.6.0 to v3.15.0.
 *
 * The thread state points to a list of frames, newest first. Python keeps frames one above the other in its
 * own stack, so reading up to the end of a frame usually gets the next ones, too.
 *
 * A frame names a code object. Its id is a hash of the object's name, file and lines. Its cookie is a hash of
 * words of the object that never change and, where these may repeat when the memory is used again, of its
 * name's hash: see list.bpf.h. */
#include "python.h"

#include "python_state.bpf.h"

/* ---- the process ---- */

static __always_inline void move_tls(struct python_tls *t, __u64 bias)
{
	if (t->kind != PYTHON_TLS_NONE && t->kind != PYTHON_TLS_OFFSET)
		t->at += bias;
}

/* Makes the row as userspace will publish it: an address of 0 is absent and stays 0. */
static __always_inline void move_proc(struct python_proc *p, __u64 bias)
{
	p->tstate_current += p->tstate_current ? bias : 0;
	p->tss_key += p->tss_key ? bias : 0;
	p->interpreters += p->interpreters ? bias : 0;
	p->code_type += p->code_type ? bias : 0;
	move_tls(&p->attached, bias);
	move_tls(&p->own, bias);
}

/* 3.11 and 3.12 link an eval loop's cframe some instructions before they set its current_frame. Until then
 * current_frame is stale or 0, and python_next() goes on with the previous loop. */
__global int python_by_cframe(struct walk *w, struct python_scratch *s, __u64 cframe)
{
	__u64 words[4] = {};

	if (!w || !s || bpf_probe_read_user(words, sizeof(words), (const void *)cframe))
		return -1;
	w->list.frame = words[s->proc.at.current_frame >> 3 & 3];
	place_of(w)->own.before = words[s->proc.at.cframe_previous >> 3 & 3];
	return 0;
}

/* Returns own.stamp: while it stays the same, no code object gets the room of one that was freed. The number only
 * grows; at its largest value it becomes 0 and stays 0. */
static __always_inline __u64 stamp_of(const struct python_layout *at, __u64 interp)
{
	__u32 next = 0;

	if (!at->interp_version || !interp ||
		bpf_probe_read_user(&next, sizeof(next), (const void *)(interp + at->interp_version)) || !next)
		return 0;
	return seen_mix(interp, next) | 1;
}

/* Takes the frames of the thread state in s->code. Returns 0 on success, -1 on failure. */
static __always_inline int take_list(struct walk *w, struct python_scratch *s)
{
	const struct python_layout *at = &s->proc.at;
	__u64 interp = at->tstate_interp ? code_load(s, at->tstate_interp) : 0;

	place_of(w)->own.interp = interp;
	s->own.stamp = stamp_of(at, interp);
	if (at->tstate_entry)
		w->list.newest = code_load(s, at->tstate_entry);
	if (at->tstate_cframe)
		return python_by_cframe(w, s, code_load(s, at->tstate_cframe));
	w->list.frame = code_load(s, at->current_frame);
	return 0;
}

__global int python_begin(struct walk *w)
{
	struct python_scratch *s;

	if (!w)
		return -1;
	w->list.newest = 0;
	s = begin(w);
	if (!s)
		return -1;
	s->own.stamp = 0;
	walk_tp(w);
	return thread_state(w, s) ? -1 : take_list(w, s);
}

/* Goes to the interpreter that ran before the one whose list has ended. Interpreters are listed newest first,
 * so it follows in that list. */
__global int python_outer(struct walk *w)
{
	struct python_scratch *s = w ? scratch_of(w) : NULL;
	struct state_search search = {};
	__u64 from = w ? place_of(w)->own.interp : 0;

	if (!s || !from || (s->own.main_interp == from && s->own.main_pid == w->pid))
		return -1;
	place_of(w)->own.interp = 0;
	search.s = s;
	search.at.tp = w->tp;
	if (read_word(from + s->proc.at.interp_next, &search.at.interp))
		return -1;
	if (!search.at.interp) {
		s->own.main_interp = from;
		s->own.main_pid = w->pid;
		return -1;
	}
	return take_own(s, w->tp, find_state(&search)) ? take_list(w, s) : -1;
}

/* ---- code objects ---- */

static __always_inline __u64 code_hash(struct python_scratch *s)
{
	struct python_code_record *r = &s->out;
	struct list_hash hash = { .r = r };

	hash.h = seen_mix(r->firstlineno, r->linetable_size);
	hash.h = seen_mix(hash.h, r->name_kind | r->file_kind << 8);
	hash.h = seen_mix(hash.h, (__u64)r->name_size << 32 | r->file_size);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return (hash.h & CODE_MASK) > CODE_HIDDEN ? hash.h & CODE_MASK : CODE_HIDDEN + 1;
}

/* Copies a str's characters unchanged. Returns 0 on success, -1 on failure. */
static __always_inline int read_str(struct python_scratch *s, __u64 str, __u64 *out,
	__u32 max, __u32 *ret_size, __u8 *ret_kind)
{
	const struct python_layout *at = &s->proc.at;
	__u64 chars, state, kind, data;
	__u32 size;

	if (bpf_probe_read_user(s->own.str, at->str_size & 63, (const void *)str))
		return -1;
	chars = str_load(s, at->str_length);
	state = (__u32)str_load(s, at->str_state) >> (at->str_kind_shift & 31);
	kind = state & 7;
	if (!(state & 8) || (kind != 1 && kind != 2 && kind != 4))
		return -1; /* not compact: code objects have no such names */
	data = str + (state & 16 ? at->str_ascii : at->str_data);
	if (chars > max)
		chars = max;
	chars = chars << (kind >> 1);
	size = chars > max ? max : (__u32)chars;
	*ret_size = size;
	*ret_kind = (__u8)kind;
	return bpf_probe_read_user(out, size, (const void *)data) ? -1 : 0;
}

static __always_inline int read_linetable(struct python_scratch *s, __u64 bytes)
{
	const struct python_layout *at = &s->proc.at;
	__u64 size;

	if (bpf_probe_read_user(s->own.str, at->str_size & 63, (const void *)bytes))
		return -1;
	size = str_load(s, at->bytes_size);
	s->out.linetable_size = size > 0xffffffff ? 0 : (__u32)size;
	if (size > PYTHON_LINETABLE_MAX)
		size = PYTHON_LINETABLE_MAX;
	return bpf_probe_read_user(s->out.linetable, (__u32)size,
		       (const void *)(bytes + at->bytes_data)) ? -1 : 0;
}

/* Reads the names and lines of the code object whose head is in s->code. */
__global int python_read_code(struct python_scratch *s)
{
	const struct python_layout *at;
	struct python_code_record *r;

	if (!s)
		return -1;
	r = &s->out;
	at = &s->proc.at;
	r->firstlineno = (__u32)code_load(s, at->code_firstlineno);
	if (read_str(s, code_load(s, at->code_name), r->name, PYTHON_NAME_MAX, &r->name_size,
		    &r->name_kind))
		return -1;
	if (read_str(s, code_load(s, at->code_filename), r->file, PYTHON_FILE_MAX, &r->file_size,
		    &r->file_kind))
		return -1;
	return read_linetable(s, code_load(s, at->code_linetable));
}

static __always_inline int name_code(struct python_scratch *s, __u64 addr, int readable)
{
	struct python_code_record *r = &s->out;

	r->addr = addr;
	r->lines = s->proc.at.lines;
	if (readable && !python_read_code(s))
		return 0;
	r->name_size = r->file_size = r->linetable_size = 0;
	return -1;
}

static __always_inline __u32 record_size(const struct python_code_record *r)
{
	__u32 linetable = r->linetable_size;

	if (linetable > PYTHON_LINETABLE_MAX)
		linetable = PYTHON_LINETABLE_MAX;
	return __builtin_offsetof(struct python_code_record, linetable) + linetable;
}

/* Returns the cookie of the code object whose head is in s->code. */
static __always_inline __u64 cookie_of(struct python_scratch *s)
{
	const struct python_layout *at = &s->proc.at;
	__u64 h = seen_mix(code_word(s, at->cookie_head), code_word(s, at->code_firstlineno));
	__u64 name = 0;

	for (__u32 i = 0; i < COOKIE_MAX; i++) {
		if (i >= at->cookie_words)
			break;
		h = seen_mix(h, code_word(s, at->cookie + 8 * i));
	}
	if (at->name_hash)
		read_word(code_load(s, at->code_name) + at->name_hash, &name);
	return seen_mix(h, name);
}

/* Returns the id of the code object at addr, or 0 if it is not a code object. */
__global __u64 python_code(struct walk *w, struct python_scratch *s, __u64 addr)
{
	struct list_memo *m;
	int readable, seen = 0;
	__u64 cookie = 0, id;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	readable = !bpf_probe_read_user(s->code, s->proc.at.code_size, (const void *)addr);
	if (readable) {
		if (s->proc.code_type && code_load(s, s->proc.at.ob_type) != s->proc.code_type)
			return 0;
		cookie = cookie_of(s);
		if (refresh(m, w, s, addr, cookie)) {
			m->stamp = s->own.stamp;
			return m->id;
		}
	}
	/* The interpreter has code objects of its own, which stand for a call from C: their name and file are
	 * the same str object, which no other code object has. */
	seen = readable && s->proc.at.boundary_min > 1 &&
	       code_load(s, s->proc.at.code_name) == code_load(s, s->proc.at.code_filename);
	id = seen ? CODE_HIDDEN : find_code(w, s, addr, cookie, readable, &seen);
	if (seen)
		*m = (struct list_memo){ addr, cookie, id, w->pid, s->walk, s->own.stamp };
	return id;
}

/* Returns whether the memo of an earlier walk is still valid; if it is, it stays valid for the rest of this walk. */
__global int python_known(struct walk *w, struct python_scratch *s, __u64 addr)
{
	struct list_memo *m;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	if (m->addr != addr || m->pid != w->pid)
		return 0;
	if (!m->stamp || m->stamp != s->own.stamp) {
		if (bpf_probe_read_user(s->code, s->proc.at.code_size, (const void *)addr) || m->cookie != cookie_of(s))
			return 0;
		m->stamp = s->own.stamp;
	}
	m->walk = s->walk;
	return 1;
}

static __always_inline __u64 code_id(struct walk *w, struct python_scratch *s, __u64 addr)
{
	struct list_memo *m = memo_of(s, addr);

	if (is_fresh(m, s, addr))
		return m->id & CODE_MASK;
	return python_code(w, s, addr) & CODE_MASK;
}

/* ---- frames ---- */

/* The next page may be missing, since a frame may be shorter than FRAME_BYTES. */
static __always_inline int read_alone(struct python_scratch *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame & ~(WINDOW - 1ULL);
	if (*size != WINDOW || bpf_probe_read_user(s->window, WINDOW, (const void *)*start))
		return -1;
	*size = 0;
	return 0;
}

/* Without a GIL, each thread except the first runs its own copy of the bytecode. */
__global __u64 thread_bytecode(__u64 at, __u32 index)
{
	__u64 array = 0, copy = 0;

	if (index >= MODULES_MAX || read_word(at, &array) ||
		read_word(array + 8 + 8ULL * index, &copy))
		return 0;
	return copy;
}

static __always_inline __u64 frame_lasti(const struct python_layout *at, __u64 instr, __u64 code,
	__u32 copy)
{
	__u64 start = at->frame_tlbc && copy ? thread_bytecode(code + at->code_tlbc, copy) : code + at->code_code;
	__s64 lasti = at->instr_is_index ? (__s32)instr : (__s64)(instr - start);

	lasti >>= at->instr_shift & 7;
	return lasti < 0 || lasti > LASTI_MAX ? 0 : (__u64)lasti;
}

__global int python_next(struct walk *w, __u64 *frame)
{
	struct python_scratch *s = w ? scratch_of(w) : NULL;
	const struct python_layout *at;
	__u64 code, id, previous, before;
	int boundary;
	__s64 o;

	if (!s || !frame)
		return -1;
	w->list.entry = 0;
	if (w->list.ended || !w->list.frame) {
		w->list.ended = w->list.shown = 0;
		w->list.entry = w->list.newest;
		w->list.newest = 0;
		return 0;
	}
	at = &s->proc.at;
	before = place_of(w)->own.before;
	place_of(w)->own.before = 0;
	o = w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	if (o < 0)
		goto broken;
	boundary = (__u8)frame_load(s, o + at->frame_boundary) >= at->boundary_min;
	previous = frame_load(s, o + at->frame_previous);
	if (boundary && !at->boundary_shown) {
		w->list.entry = w->list.frame;
		w->list.frame = previous;
		/* 3.15's list ends with a frame that stands for no activation. */
		if (!previous && !w->list.shown && !python_outer(w)) {
			*frame = 0;
			return 1;
		}
		w->list.shown = 0;
		return 0;
	}
	code = frame_load(s, o + at->frame_code) & ~(__u64)at->code_tag;
	id = code_id(w, s, code);
	if (!id || (before && !is_fresh(memo_of(s, code), s, code)))
		goto broken;
	*frame = id == CODE_HIDDEN ? 0 : FRAME_PYTHON(id,
		frame_lasti(at, frame_load(s, o + at->frame_instr), code,
			(__u32)frame_load(s, o + at->frame_tlbc)));
	w->list.frame = previous;
	w->list.ended = boundary;
	w->list.shown = 1;
	return 1;
broken:
	w->list.frame = 0;
	if (!before || python_by_cframe(w, s, before) || !w->list.frame)
		return -1;
	place_of(w)->own.before = 0;
	w->list.newest = w->list.newest ? before : 0;
	*frame = 0;
	return 1;
}

/* The fast way for most frames: they are in the window, not the last of their activation, and
 * their code is in the memo. */
__global int python_batch(struct walk *w)
{
	struct python_scratch *s = w ? scratch_of(w) : NULL;
	__u64 frame, window, last, code_at, instr_at, previous_at, owner_at, owner_shift;
	__u64 pointer, wide, code_code, shift;
	const struct python_layout *at;
	int n = 0;

	if (!s || w->list.ended || !w->list.frame || s->proc.at.frame_tlbc)
		return 0;
	at = &s->proc.at;
	frame = w->list.frame;
	if (frame_at(w, s, frame) < 0 || !place_of(w)->window_size)
		return 0;
	window = place_of(w)->window;
	last = place_of(w)->window_size - FRAME_BYTES;
	code_at = at->frame_code;
	instr_at = at->frame_instr;
	previous_at = at->frame_previous;
	owner_at = at->frame_boundary & ~7;
	owner_shift = (at->frame_boundary & 7) * 8;
	/* This computes frame_lasti() without branches. */
	pointer = at->instr_is_index ? 0 : ~0ULL;
	FORGET(pointer); /* else clang makes its use a branch in each round */
	wide = at->instr_is_index ? 0xffffffff : ~0ULL;
	code_code = at->code_code & pointer;
	shift = at->instr_shift & 7;
	for (; n < LIST_BATCH; n++) {
		__u64 o = frame - window, code, lasti, fits;
		struct list_memo *m;

		if (o > last || (o & 7) ||
			(__u8)(frame_word(s, o + owner_at) >> owner_shift) >= at->boundary_min)
			break;
		code = frame_word(s, o + code_at) & ~(__u64)at->code_tag;
		m = memo_of(s, code);
		if ((!is_fresh(m, s, code) && !python_known(w, s, code)) || m->id <= CODE_HIDDEN)
			break;
		lasti = ((frame_word(s, o + instr_at) - (code & pointer) - code_code) & wide) >> shift;
		/* 0 beyond LASTI_MAX. There is no branch, because the verifier would follow both ways to the end. */
		fits = ((LASTI_MAX - lasti) >> 63) - 1;
		FORGET(fits);
		w->list.batch[n] = FRAME_PYTHON(m->id & CODE_MASK, lasti & fits);
		frame = frame_word(s, o + previous_at);
	}
	w->list.frame = frame;
	w->list.shown |= n > 0;
	if (n)
		place_of(w)->own.before = 0;
	return n;
}

/* CPython's JIT (3.13 on) makes native frames, which have frame pointers. */
__global __u64 python_compiled(struct walk *w)
{
	return 0;
}
