// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* php.bpf.c - the kernel half of src/unwinders/php/: PHP's frames.
 *
 * current_execute_data points to a list of frames, newest first. PHP keeps frames one above the other in its
 * own pages, so reading up to the end of a frame usually gets the next ones, too.
 *
 * A frame names a zend_function by its address, which may be freed and used again. Records therefore carry an
 * id: a hash of the function's name, class and file, the same in all processes. The map php_seen leads from
 * an address to the id; an entry is valid only while its cookie is the same, a hash of the function's
 * pointers and of the hashes that PHP keeps of its strings. The function is read once in each walk: struct
 * php_memo keeps the answer for the rest of the walk and saves later walks the lookup in the map.
 *
 * php.h describes the layouts. */
#include "php.h"
#include "bpf/lib/seen.bpf.h"
#include "bpf/walk/langmaps.bpf.h"

#define WINDOW      4096 /* bytes read at once, within a page: the smallest page size */
#define FRAME_BYTES 56   /* bytes of a zend_execute_data that are read */
#define CODE_BYTES  256  /* at least the bytes of a zend_op_array that are read */
#define MEMO        256
#define SEEN_FUNCTIONS 8192 /* buckets */
#define CODE_MASK   ((1ULL << PHP_CODE_BITS) - 1)
#define FRAME_UNKNOWN 1  /* not a frame's address, so php_next() fails to read it */
#define FAKES_MAX   4    /* frames without a function between a file and its include statement */

/* zend_execute_data */
#define FRAME_OPLINE 0
#define FRAME_RETURN 16 /* return_value: the address for the function's result */
#define FRAME_FUNC   24
#define FRAME_FLAGS  40 /* This.u1.type_info */
#define FRAME_PREV   48 /* prev_execute_data */
#define CALL_TOP     (1 << 17) /* ZEND_CALL_TOP */
#define CALL_GENERATOR (1 << 24) /* ZEND_CALL_GENERATOR */

/* zend_op, from byte 16 on: result, extended_value, lineno, opcode */
#define OP_TAIL          16
#define OP_INCLUDE       73  /* ZEND_INCLUDE_OR_EVAL */
#define OP_EXCEPTION     149 /* ZEND_HANDLE_EXCEPTION, executor_globals.exception_op[0] */
#define BEFORE_EXCEPTION 8   /* bytes before that: opline_before_exception */
#define OP_FRAMELESS     204 /* ZEND_FRAMELESS_ICALL_0, from 8.4 on.. */
#define FRAMELESS_KINDS  4   /* ..to _3: zend_flf_functions[extended_value] is called */
#define OP_LINE(w)       ((__u32)(w)[1])
#define OP_CODE(w)       ((__u8)((w)[1] >> 32))
#define OP_EXTENDED(w)   ((__u32)((w)[0] >> 32))

/* zend_function: type, function_name, scope; zend_class_entry: name */
#define CODE_NAME      8
#define CODE_SCOPE     16
#define CLASS_NAME     8
#define INTERNAL_BYTES 24 /* bytes of a zend_internal_function that are read */
#define TYPE_INTERNAL  1  /* ZEND_INTERNAL_FUNCTION */
#define TYPE_EVAL      4  /* ZEND_EVAL_CODE */

/* zend_string: h, len, val */
#define STR_HASH 8
#define STR_VAL  24

/* The id is a hash of these: name, class, file. */
#define NAME_WORDS (PHP_NAME_MAX / 8)
#define FILE_WORDS (PHP_FILE_MAX / 8)
#define HASH_WORDS 256
_Static_assert(HASH_WORDS == 2 * NAME_WORDS + FILE_WORDS, "a power of 2");

struct php_memo {
	__u64 addr;   /* address of the zend_function | enum php_entry */
	__u64 cookie;
	__u64 id;     /* 0: the function has no name of its own */
	__u32 pid;
	__u32 walk;   /* the walk in which it was last compared */
	__u64 type;
};

struct php_scratch {
	__u64 window[WINDOW / 8];
	__u64 code[CODE_BYTES / 8];
	struct php_proc proc; /* the process of this walk */
	__u32 walk, pad;
	__u64 op[2];          /* the operation that php_line_of() read */
	struct php_memo memo[MEMO];
	struct php_code_record out;
} __attribute__((aligned(64)));

SEEN_OBJECTS_MAP(php_seen, SEEN_FUNCTIONS);

LANG_MAPS(php)

/* The walk's place in PHP's list: struct list_cursor's own[]. */
struct php_place {
	__u64 window; /* address of the part of the stack that is in the scratch */
	__u64 window_size; /* size of that part in bytes; 0: none */
	__u64 inner;  /* a frame was shown before this one */
	__u64 called; /* the frame whose frameless call was shown */
};
_Static_assert(sizeof(struct php_place) <= 8 * LIST_OWN, "list.own");

static __always_inline struct php_place *place_of(struct walk *w)
{
	return (struct php_place *)w->list.own;
}

/* ---- reading ---- */

/* The word at byte `at` of a buffer of mask + 1 bytes. */
static __always_inline __u64 load(const __u64 *buf, __u64 at, __u64 mask)
{
	at >>= 3;
	FORGET(at);
	return buf[at & mask >> 3];
}

#define frame_load(s, at) load((s)->window, at, WINDOW - 1)
#define code_load(s, at)  load((s)->code, at, CODE_BYTES - 1)

static __always_inline int read_word(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (const void *)addr);
}

/* ---- the process ---- */

/* opcache's JIT compiler makes code that runs in the C frame of execute_ex(). */
__global __u64 php_compiled(struct walk *w)
{
	__u32 pid = w ? w->pid : 0;
	struct php_proc *p = bpf_map_lookup_elem(&php_procs, &pid);

	return p ? p->jit_rule : 0;
}

/* Copies the process's row to s->proc. A process that userspace has not published gets the row of `file` (0:
 * unknown). Returns 0 or -1. */
static __always_inline int find_proc(struct walk *w, struct php_scratch *s, __u32 file, __u64 bias)
{
	__u32 pid = w->pid;
	struct php_proc *p = bpf_map_lookup_elem(&php_procs, &pid);

	if (p) {
		s->proc = *p;
		return 0;
	}
	p = file ? bpf_map_lookup_elem(&php_files, &file) : NULL;
	if (!p)
		return -1;
	s->proc = *p;
	s->proc.globals += s->proc.globals ? bias : 0;
	s->proc.frameless += s->proc.frameless ? bias : 0;
	return 0;
}

#ifndef STRATA_HOST
__global int php_meet(struct walk *w)
{
	struct php_scratch *s = w ? scratch_of(w) : NULL;
	__u32 pid = w ? w->pid : 0;

	if (s && !bpf_map_lookup_elem(&php_procs, &pid) && !find_proc(w, s, w->map.file, w->map.bias))
		bpf_map_update_elem(&php_procs, &pid, &s->proc, BPF_NOEXIST);
	return 0;
}
#endif

/* A build without ZTS, which has executor_globals, runs PHP only in the first thread. */
__global int php_begin(struct walk *w)
{
	struct php_scratch *s;

	if (!w)
		return -1;
	w->list.begun = 1;
	w->list.frame = 0;
	place_of(w)->window_size = 0;
	s = scratch_of(w);
	if (!s || find_proc(w, s, w->list.file, w->list.bias))
		return -1;
	w->list.begun = LIST_HAS_LANG;
	s->walk++;
	place_of(w)->inner = 0;
	place_of(w)->called = 0;
	if (!s->proc.globals) { /* an unknown build: there may be frames */
		w->list.frame = FRAME_UNKNOWN;
		return 0;
	}
	if (w->tid != w->pid)
		return 0;
	return read_word(s->proc.globals + s->proc.at.current, &w->list.frame) ? -1 : 0;
}

/* ---- functions ---- */

struct php_hash {
	struct php_code_record *r;
	__u64 h;
};

/* Hashes one word of name, class and file, which follow each other; the bytes after the end of each are stale. */
static long hash_word(__u32 i, void *data)
{
	struct php_hash *hash = data;
	struct php_code_record *r = hash->r;
	__u64 left, word;

	if (i < NAME_WORDS)
		left = r->name_size - 8ULL * i;
	else if (i < 2 * NAME_WORDS)
		left = r->class_size - 8ULL * (i - NAME_WORDS);
	else
		left = r->file_size - 8ULL * (i - 2 * NAME_WORDS);
	if ((__s64)left <= 0)
		return 0;
	word = load(r->name, 8 * i, 8 * HASH_WORDS - 1);
	if (left < 8)
		word &= (1ULL << (left * 8)) - 1;
	hash->h = seen_mix(hash->h, word);
	return 0;
}

/* The hash of the function in s->out. */
__global __u64 php_code_hash(struct php_scratch *s)
{
	struct php_hash hash = {};

	if (!s)
		return 0;
	hash.r = &s->out;
	hash.h = seen_mix((__u64)hash.r->entry << 32 | hash.r->file_size,
		(__u64)hash.r->name_size << 32 | hash.r->class_size);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

/* Returns 0 or -1. */
static __always_inline int read_str(__u64 str, __u64 *out, __u32 max, __u32 *ret_size)
{
	__u64 head[3] = {};
	__u32 size;

	if (bpf_probe_read_user(head, sizeof(head), (const void *)str))
		return -1;
	size = head[2] > max ? max : (__u32)head[2];
	*ret_size = size;
	return bpf_probe_read_user(out, size, (const void *)(str + STR_VAL)) ? -1 : 0;
}

/* Reads the names of the function whose head is in s->code. */
__global int php_read_code(struct php_scratch *s)
{
	struct php_code_record *r;
	__u64 name, scope;

	if (!s)
		return -1;
	r = &s->out;
	r->name_size = r->class_size = r->file_size = 0;
	name = code_load(s, CODE_NAME);
	scope = code_load(s, CODE_SCOPE);
	if (name && read_str(name, r->name, PHP_NAME_MAX, &r->name_size))
		return -1;
	if (name && scope && (read_word(scope + CLASS_NAME, &scope) ||
		read_str(scope, r->class, PHP_NAME_MAX, &r->class_size)))
		return -1;
	if ((__u8)code_load(s, 0) == TYPE_INTERNAL)
		return 0;
	return read_str(code_load(s, s->proc.at.filename), r->file, PHP_FILE_MAX, &r->file_size);
}

/* Sends a function's names to userspace. Pages that are not resident cannot be read here: the id is then
 * provisional, userspace reads the process instead (which brings the pages in), and the next walk tries
 * again. Returns the id, and in *seen whether it is final. */
static __always_inline __u64 first_sight(struct walk *w, struct php_scratch *s, __u64 addr,
	__u64 cookie, int readable, int *seen)
{
	struct php_code_record *r = &s->out;
	__u32 size = __builtin_offsetof(struct php_code_record, file), file;

	r->head.head.kind = RECORD_LANG;
	r->head.head.id = FRAME_LANG_PHP;
	r->head.time = 0;
	r->head.pid = w->pid;
	r->addr = addr & ~7ULL;
	r->entry = addr & 7;
	if (readable && !php_read_code(s)) {
		r->flags = 0;
		r->code = php_code_hash(s);
		*seen = 1;
	} else {
		r->flags = PHP_UNREADABLE;
		r->name_size = r->class_size = r->file_size = 0;
		r->code = seen_mix(seen_mix(cookie, addr), w->pid) & CODE_MASK;
		*seen = 0;
	}
	file = r->file_size;
	if (file > PHP_FILE_MAX)
		file = PHP_FILE_MAX;
	if (ring_output(r, size + file))
		*seen = 0;
	return r->code;
}

/* The cookie of the function whose head is in s->code: see the top of this file. Not inlined,
 * because the stack is short. */
__global __u64 php_cookie(struct php_scratch *s)
{
	__u64 name, type, file, h, hash = 0;

	if (!s)
		return 0;
	name = code_load(s, CODE_NAME);
	type = (__u8)code_load(s, 0);
	if (name)
		read_word(name + STR_HASH, &hash);
	h = seen_mix(seen_mix(seen_mix(type, code_load(s, CODE_SCOPE)), name), hash);
	if (type == TYPE_INTERNAL)
		return h;
	file = code_load(s, s->proc.at.filename);
	hash = 0;
	read_word(file + STR_HASH, &hash);
	h = seen_mix(seen_mix(h, file), hash);
	h = seen_mix(h, code_load(s, s->proc.at.opcodes));
	return seen_mix(h, code_load(s, s->proc.at.filename + 8)); /* line_start, line_end */
}

/* These are functions, so that the verifier checks them once. */
__global __u64 php_known_id(__u64 hash)
{
	return seen_id(seen_objects(&php_seen, SEEN_FUNCTIONS, hash), hash);
}

__global int php_add_id(__u64 hash, __u64 id)
{
	seen_add_id(seen_objects(&php_seen, SEEN_FUNCTIONS, hash), hash, id);
	return 0;
}

/* Returns the id from php_seen, or sends the function. Sets *seen if the id is final, else clears it. */
static __always_inline __u64 find_code(struct walk *w, struct php_scratch *s, __u64 addr,
	__u64 cookie, int readable, int *seen)
{
	__u64 hash = seen_hash(addr, w->pid, cookie), id;

	id = readable ? php_known_id(hash) : 0;
	if (id) {
		*seen = 1;
		return id;
	}
	id = first_sight(w, s, addr, cookie, readable, seen);
	if (*seen)
		php_add_id(hash, id);
	return id;
}

static __always_inline struct php_memo *memo_of(struct php_scratch *s, __u64 addr)
{
	__u64 i = addr >> 4 ^ addr >> 12 ^ addr;

	FORGET(i);
	return &s->memo[i & (MEMO - 1)];
}

/* An internal function is shorter than the bytes that are read of others. Returns 0 or -1. */
static __always_inline int read_head(struct php_scratch *s, __u64 func)
{
	__u32 size = s->proc.at.filename + 16;

	if (!bpf_probe_read_user(s->code, size & (CODE_BYTES - 1), (const void *)func))
		return 0;
	return bpf_probe_read_user(s->code, INTERNAL_BYTES, (const void *)func) ||
		(__u8)s->code[0] != TYPE_INTERNAL ? -1 : 0;
}

/* Puts the function at addr (| enum php_entry) into the memo. Returns 0, or -1 if addr is not a function. */
__global int php_code(struct walk *w, struct php_scratch *s, __u64 addr)
{
	__u64 cookie = 0, type = 0, id = 0;
	int readable, seen = 0;
	struct php_memo *m;

	if (!w || !s)
		return -1;
	m = memo_of(s, addr);
	readable = !read_head(s, addr & ~7ULL);
	if (readable) {
		type = (__u8)s->code[0];
		cookie = php_cookie(s);
		if (m->addr == addr && m->pid == w->pid && m->cookie == cookie) {
			m->walk = s->walk;
			return 0;
		}
		if (!type || type > TYPE_EVAL)
			return -1;
	}
	if (!readable || (addr & 7) || code_load(s, CODE_NAME))
		id = find_code(w, s, addr, cookie, readable, &seen);
	/* The next walk looks an unreadable function up again. */
	*m = (struct php_memo){ addr, seen || !id ? cookie : ~cookie, id, w->pid, s->walk, type };
	return 0;
}

static __always_inline int remember(struct walk *w, struct php_scratch *s, __u64 addr)
{
	struct php_memo *m = memo_of(s, addr);

	return m->addr == addr && m->walk == s->walk ? 0 : php_code(w, s, addr);
}

/* ---- frames ---- */

/* Reads the frame into the window, together with the next frames, which lie before it. The window starts at
 * the beginning of the frame's page: the page before may be missing, and a read that faults costs as much as
 * ten others. Returns 0 or -1. */
__global int php_window(struct walk *w, struct php_scratch *s, __u64 frame)
{
	__u64 start = frame & ~(WINDOW - 1ULL), size = frame - start + FRAME_BYTES;

	if (!w || !s)
		return -1;
	if (size > WINDOW) { /* the frame ends in the next page, or pages are larger */
		start = (frame + FRAME_BYTES - WINDOW + 63) & ~63ULL;
		size = WINDOW;
	}
	if (bpf_probe_read_user(s->window, size & (2 * WINDOW - 1), (const void *)start)) {
		start = frame;
		if (bpf_probe_read_user(s->window, FRAME_BYTES, (const void *)frame))
			return -1;
		size = FRAME_BYTES;
	}
	place_of(w)->window = start;
	place_of(w)->window_size = size;
	return 0;
}

/* Returns the frame's offset in s->window; -1: not readable. */
static __always_inline __s64 frame_at(struct walk *w, struct php_scratch *s, __u64 frame)
{
	const struct php_place *at = place_of(w);

	if ((frame - at->window > at->window_size - (__u64)FRAME_BYTES || !at->window_size) && php_window(w, s, frame))
		return -1;
	return (__s64)(frame - at->window);
}

/* Returns the statement that entered a file or a string of code, which the calling frame shows. ORDER PHP_ENTRY */
__global int php_entry_of(__u64 frame)
{
	__u64 words[FRAME_BYTES / 8] = {}, op[2] = {};

	if (!frame)
		return PHP_MAIN;
	for (int i = 0; i < FAKES_MAX && frame; i++) {
		if (bpf_probe_read_user(words, sizeof(words), (const void *)frame))
			return PHP_INCLUDE;
		if (words[FRAME_FUNC / 8])
			break;
		frame = words[FRAME_PREV / 8];
	}
	if (bpf_probe_read_user(op, sizeof(op), (const void *)(words[0] + OP_TAIL)) ||
		OP_CODE(op) != OP_INCLUDE)
		return PHP_INCLUDE;
	switch (OP_EXTENDED(op)) { /* ZEND_EVAL, ZEND_INCLUDE_ONCE.. */
	case 1:
		return PHP_EVAL;
	case 4:
		return PHP_INCLUDE_ONCE;
	case 8:
		return PHP_REQUIRE;
	case 16:
		return PHP_REQUIRE_ONCE;
	}
	return PHP_INCLUDE;
}

/* Returns the line of opline and leaves the operation in s->op. During an exception opline is
 * exception_op[0]; the operation that threw it is opline_before_exception. */
__global __u32 php_line_of(struct php_scratch *s, __u64 opline)
{
	if (!s)
		return 0;
	s->op[0] = s->op[1] = 0;
	if (bpf_probe_read_user(s->op, sizeof(s->op), (const void *)(opline + OP_TAIL)))
		return 0;
	if (OP_CODE(s->op) == OP_EXCEPTION &&
		!read_word(opline - BEFORE_EXCEPTION, &opline))
		bpf_probe_read_user(s->op, sizeof(s->op), (const void *)(opline + OP_TAIL));
	return OP_LINE(s->op);
}

/* From 8.4 on, some internal functions are called without a frame. Such a function is shown if it called the
 * newer frame. Returns 1 and its frame, or 0. */
static __always_inline int frameless(struct walk *w, struct php_scratch *s, __u64 *frame)
{
	__u64 func = 0;

	if (!s->proc.frameless || !place_of(w)->inner || place_of(w)->called == w->list.frame ||
		OP_CODE(s->op) - (__u32)OP_FRAMELESS >= FRAMELESS_KINDS)
		return 0;
	place_of(w)->called = w->list.frame;
	if (read_word(s->proc.frameless, &func) || read_word(func + 8ULL * OP_EXTENDED(s->op), &func) ||
		!func || (func & 7) || remember(w, s, func))
		return 0;
	*frame = FRAME_PHP(memo_of(s, func)->id & CODE_MASK, 0);
	return 1;
}

/* The function of a frame; NULL: not a function. id 0: the frame is not shown. */
static __always_inline struct php_memo *code_of(struct walk *w, struct php_scratch *s, __u64 func,
	__u64 previous)
{
	struct php_memo *m = memo_of(s, func);

	if ((func & 7) || remember(w, s, func))
		return NULL;
	if (m->id || m->type == TYPE_INTERNAL)
		return m;
	func |= m->type == TYPE_EVAL ? PHP_EVAL : php_entry_of(previous);
	return remember(w, s, func) ? NULL : memo_of(s, func);
}

/* Whether C has made the frame for a call but has not entered execute_ex() for it yet: its result goes to a
 * variable of a C frame newer than this loop's. This loop's own frame is the previous one. */
static __always_inline int is_pending(struct walk *w, struct php_scratch *s, __s64 o)
{
	__u64 to = frame_load(s, o + FRAME_RETURN);

	return frame_load(s, o + FRAME_FLAGS) & CALL_TOP && !place_of(w)->inner && to >= w->first_sp && to < w->sp;
}

/* Returns 0 or -1. */
static __always_inline int show_frame(struct walk *w, struct php_scratch *s, __s64 o, __u64 *frame)
{
	__u64 func = frame_load(s, o + FRAME_FUNC), flags = frame_load(s, o + FRAME_FLAGS);
	__u64 opline = frame_load(s, o + FRAME_OPLINE), previous = frame_load(s, o + FRAME_PREV), id;
	struct php_memo *m = func ? code_of(w, s, func, previous) : NULL;
	__u32 line = 0;

	if (func && !m)
		return -1;
	/* Skip a stand-in, which has no flags; the first frame of a fiber; a frame that does not run yet. */
	if (!func || !m->id || (m->type != TYPE_INTERNAL && is_pending(w, s, o))) {
		w->list.frame = previous;
		*frame = 0;
		return 0;
	}
	id = m->id & CODE_MASK;
	if (m->type == TYPE_INTERNAL) { /* it may have the flag, but no loop runs it */
		flags = 0;
	} else {
		line = php_line_of(s, opline);
		if (frameless(w, s, frame))
			return 0;
	}
	*frame = FRAME_PHP(id, line);
	w->list.frame = previous;
	w->list.ended = !!(flags & CALL_TOP);
	/* A generator that is being resumed may not be linked to its caller yet. */
	if (flags & CALL_GENERATOR && !previous)
		w->cause = UNWIND_UNATTACHED;
	place_of(w)->inner = 1;
	return 0;
}

/* Whether this loop is about to return: its frame (x86_64: in r14, ZEND_VM_FP_GLOBAL_REG of php-src
 * Zend/zend_execute.c, also in compiled code) has left the list. */
static __always_inline int has_left(struct walk *w)
{
	__u64 own = w->regs[RULE_REG_R14], flags = 0, previous = 0;
	__u32 known = WALK_EXACT | WALK_REGS;

	if (WALK_ARM64(w) || place_of(w)->inner || !w->list_in || (w->flags & known) != known ||
		own == w->list.frame)
		return 0;
	return !read_word(own + FRAME_FLAGS, &flags) && flags & CALL_TOP &&
	       !read_word(own + FRAME_PREV, &previous) && previous == w->list.frame;
}

__global int php_next(struct walk *w, __u64 *frame)
{
	struct php_scratch *s = w ? scratch_of(w) : NULL;
	__s64 o;

	if (!s || !frame)
		return -1;
	w->list.entry = 0;
	if (w->list.ended || !w->list.frame || has_left(w)) {
		w->list.ended = 0;
		return 0;
	}
	o = w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	if (o >= 0 && !show_frame(w, s, o, frame))
		return 1;
	w->list.frame = 0;
	return -1;
}

/* The fast way for most frames: they are in the window, not the last of their activation, and their function
 * has a name and was seen in this walk. */
__global int php_batch(struct walk *w)
{
	struct php_scratch *s = w ? scratch_of(w) : NULL;
	__u64 frame, window, last, op[2] = {};
	int n = 0;

	if (!s || w->list.ended || !w->list.frame || !place_of(w)->inner)
		return 0;
	frame = w->list.frame;
	if ((frame & 7) || frame_at(w, s, frame) < 0)
		return 0;
	window = place_of(w)->window;
	last = place_of(w)->window_size - FRAME_BYTES;
	for (; n < LIST_BATCH; n++) {
		__u64 o = frame - window, func;
		struct php_memo *m;

		if (o > last || (o & 7))
			break;
		func = frame_load(s, o + FRAME_FUNC);
		m = memo_of(s, func);
		if (m->addr != func || m->walk != s->walk || !m->id || m->type == TYPE_INTERNAL ||
			(frame_load(s, o + FRAME_FLAGS) & CALL_TOP))
			break;
		if (bpf_probe_read_user(op, sizeof(op), (const void *)(frame_load(s, o + FRAME_OPLINE) + OP_TAIL)) ||
			OP_CODE(op) == OP_EXCEPTION || OP_CODE(op) >= OP_FRAMELESS)
			break;
		w->list.batch[n] = FRAME_PHP(m->id & CODE_MASK, OP_LINE(op));
		frame = frame_load(s, o + FRAME_PREV);
	}
	w->list.frame = frame;
	place_of(w)->inner |= n > 0;
	return n;
}

/* A build without ZTS has only one interpreter. */
__global int php_outer(struct walk *w)
{
	return -1;
}
