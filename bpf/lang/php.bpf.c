// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* php.bpf.c - the kernel half of src/unwinders/php/: PHP's frames.
 *
 * current_execute_data points to a list of frames, newest first. PHP keeps frames one above the other in its
 * own pages, so reading up to the end of a frame usually gets the next ones, too.
 *
 * A frame names a zend_function. Its id is a hash of the function's name, class and file; its cookie is a
 * hash of the function's pointers and of the hashes that PHP keeps of its strings: see list.bpf.h.
 *
 * php.h describes the layouts. */
#include "php.h"

#include "bpf/lib/insn.h"

#define LIST_STEM       php
#define LIST_LANG       FRAME_LANG_PHP
#define LIST_UNREADABLE PHP_UNREADABLE
#define CODE_BITS       PHP_CODE_BITS
#define FRAME_BYTES     56  /* bytes of a zend_execute_data that are read */
#define CODE_BYTES      256 /* at least the bytes of a zend_op_array that are read */

/* The id is a hash of these: name, class, file. */
#define HASH_SECOND (PHP_NAME_MAX / 8)
#define HASH_THIRD  (2 * PHP_NAME_MAX / 8)
#define HASH_SECOND_SIZE class_size
#define HASH_THIRD_SIZE  file_size

/* addr: address | enum php_entry; id 0: the function has no name of its own; opline: an operation of the function, 0:
 * unknown; its line, and own.tick when that was read. */
#define LIST_MEMO_OWN   __u64 opline; __u32 line, tick; __u64 type;
#define LIST_LASTS      1
#define LAST_FILE       0 /* the hash of a file's name */

struct php_own {
	__u64 op[2]; /* the operation that php_line_of() read */
	__u64 tick;  /* of this walk: a line is read once a second if its function is the same */
};

struct php_place {
	__u64 inner;  /* a frame was shown before this one */
	__u64 called; /* the frame whose frameless call was shown */
};

#include "list.bpf.h"

_Static_assert(HASH_WORDS == HASH_THIRD + PHP_FILE_MAX / 8, "a power of 2");

#define TICK_SHIFT    30 /* of ns */
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

/* ---- the process ---- */

/* While a trace is left, its frame has the registers above its own words: 16 of 8 bytes, 16 of SSE, and the number of
 * the exit. ext/opcache/jit/zend_jit_x86.dasc of PHP 8.2, zend_jit_trace_exit_stub(); ir_x86.dasc of 8.4,
 * ir_emit_exitcall(). */
#define EXIT_BYTES (16 * 8 + 16 * 8)
#define EXIT_TRIES 4

struct exit_search {
	__u64 slot;  /* of the return address in a frame that is not left */
	__u64 shift; /* bytes of registers */
	__u64 found;
};

static long try_exit(__u32 i, void *data)
{
	struct exit_search *s = data;
	__u64 ra = 0, before = 0;

	s->shift = i ? EXIT_BYTES - 8 + 8 * i : 0;
	if (bpf_probe_read_user(&ra, 8, (void *)(s->slot + s->shift)) ||
		bpf_probe_read_user(&before, 8, (void *)(ra - 8)) || !X86_IS_CALL(before))
		return 0;
	s->found = 1;
	return 1;
}

/* opcache's JIT compiler makes code that runs in the C frame of execute_ex(). */
__global __u64 php_compiled(struct walk *w)
{
	__u32 pid = w ? w->pid : 0;
	struct php_proc *p = bpf_map_lookup_elem(&php_procs, &pid);
	struct exit_search s = {};
	__u64 rule = p ? p->jit_rule : 0;

	if (!w || !rule || WALK_ARM64(w) || RULE_KIND(rule) != RULE_CFA || RULE_REG(rule) != RULE_REG_SP)
		return rule;
	s.slot = w->sp - 8 + (RULE_FLAGS(rule) & RULE_RBX ? RULE_OFFSET_24(rule) : RULE_OFFSET(rule));
	bpf_loop(EXIT_TRIES, try_exit, &s, 0);
	return s.found ? rule + (s.shift << 32) : rule;
}

static __always_inline void move_proc(struct php_proc *p, __u64 bias)
{
	p->globals += p->globals ? bias : 0;
	p->frameless += p->frameless ? bias : 0;
}

/* A build without ZTS, which has executor_globals, runs PHP only in the first thread. */
__global int php_begin(struct walk *w)
{
	struct php_scratch *s;

	if (!w)
		return -1;
	s = begin(w);
	if (!s)
		return -1;
	if (!s->proc.globals) { /* an unknown build: there may be frames */
		w->list.frame = FRAME_UNKNOWN;
		return 0;
	}
	if (w->tid != w->pid)
		return 0;
	s->own.tick = (__u32)(bpf_ktime_get_ns() >> TICK_SHIFT);
	return read_word(s->proc.globals + s->proc.at.current, &w->list.frame) ? -1 : 0;
}

/* ---- functions ---- */

/* Returns the hash of the function in s->out. */
__global __u64 php_code_hash(struct php_scratch *s)
{
	struct list_hash hash = {};

	if (!s)
		return 0;
	hash.r = &s->out;
	hash.h = seen_mix((__u64)hash.r->entry << 32 | hash.r->file_size,
		(__u64)hash.r->name_size << 32 | hash.r->class_size);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

static __always_inline __u64 code_hash(struct php_scratch *s)
{
	return php_code_hash(s);
}

/* Returns 0 on success, -1 on failure. */
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
	name = code_word(s, CODE_NAME);
	scope = code_word(s, CODE_SCOPE);
	if (name && read_str(name, r->name, PHP_NAME_MAX, &r->name_size))
		return -1;
	if (name && scope && (read_word(scope + CLASS_NAME, &scope) ||
		read_str(scope, r->class, PHP_NAME_MAX, &r->class_size)))
		return -1;
	if ((__u8)code_word(s, 0) == TYPE_INTERNAL)
		return 0;
	return read_str(code_word(s, s->proc.at.filename), r->file, PHP_FILE_MAX, &r->file_size);
}

static __always_inline int name_code(struct php_scratch *s, __u64 addr, int readable)
{
	struct php_code_record *r = &s->out;

	r->addr = addr & ~7ULL;
	r->entry = addr & 7;
	if (readable && !php_read_code(s))
		return 0;
	r->name_size = r->class_size = r->file_size = 0;
	return -1;
}

static __always_inline __u32 record_size(const struct php_code_record *r)
{
	__u32 file = r->file_size;

	if (file > PHP_FILE_MAX)
		file = PHP_FILE_MAX;
	return __builtin_offsetof(struct php_code_record, file) + file;
}

/* Returns the cookie of the function whose head is in s->code. Not inlined, because the stack is short. */
__global __u64 php_cookie(struct php_scratch *s)
{
	__u64 name, type, file, h, hash = 0;

	if (!s)
		return 0;
	name = code_word(s, CODE_NAME);
	type = (__u8)code_word(s, 0);
	if (name)
		read_word(name + STR_HASH, &hash);
	h = seen_mix(seen_mix(seen_mix(type, code_word(s, CODE_SCOPE)), name), hash);
	if (type == TYPE_INTERNAL)
		return h;
	file = code_word(s, s->proc.at.filename);
	if (!has_last(s, LAST_FILE, file)) {
		hash = 0;
		read_word(file + STR_HASH, &hash);
		set_last(s, LAST_FILE, file, hash);
	}
	h = seen_mix(seen_mix(h, file), s->last[LAST_FILE].value);
	h = seen_mix(h, code_word(s, s->proc.at.opcodes));
	h = seen_mix(h, code_word(s, s->proc.at.opcodes - 8)); /* last: the number of operations */
	return seen_mix(h, code_word(s, s->proc.at.filename + 8)); /* line_start, line_end */
}

/* An internal function is shorter than the bytes that are read of others. Returns 0 on success, -1 on failure. */
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
	struct list_memo *m;

	if (!w || !s)
		return -1;
	m = this_memo(s);
	readable = !read_head(s, addr & ~7ULL);
	if (readable) {
		type = (__u8)s->code[0];
		cookie = php_cookie(s);
		if (refresh(m, w, s, addr, cookie))
			return 0;
		if (!type || type > TYPE_EVAL)
			return -1;
	}
	if (!readable || (addr & 7) || code_word(s, CODE_NAME))
		id = find_code(w, s, addr, cookie, readable, &seen);
	/* The next walk looks an unreadable function up again. */
	*m = (struct list_memo){ addr, seen || !id ? cookie : ~cookie, id, w->pid, s->walk, 0, 0, 0, type };
	return 0;
}

/* Returns whether this_memo() of an earlier walk is still valid; if it is, it stays valid for the rest of this walk. */
__global int php_known(struct walk *w, struct php_scratch *s, __u64 func)
{
	struct list_memo *m;

	if (!w || !s)
		return 0;
	m = this_memo(s);
	return m->addr == func && !(func & 7) && !read_head(s, func) && refresh(m, w, s, func, php_cookie(s));
}

static __always_inline int remember(struct walk *w, struct php_scratch *s, __u64 addr)
{
	return is_fresh(memo_of(s, addr), s, addr) ? 0 : php_code(w, s, addr);
}

/* ---- frames ---- */

static __always_inline int read_alone(struct php_scratch *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame;
	*size = FRAME_BYTES;
	return bpf_probe_read_user(s->window, FRAME_BYTES, (const void *)frame) ? -1 : 0;
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

/* Returns the line of opline and leaves the operation in s->own.op. During an exception opline is
 * exception_op[0]; the operation that threw it is opline_before_exception. */
__global __u32 php_line_of(struct php_scratch *s, __u64 opline)
{
	if (!s)
		return 0;
	s->own.op[0] = s->own.op[1] = 0;
	if (bpf_probe_read_user(s->own.op, sizeof(s->own.op), (const void *)(opline + OP_TAIL)))
		return 0;
	if (OP_CODE(s->own.op) == OP_EXCEPTION &&
		!read_word(opline - BEFORE_EXCEPTION, &opline))
		bpf_probe_read_user(s->own.op, sizeof(s->own.op), (const void *)(opline + OP_TAIL));
	return OP_LINE(s->own.op);
}

/* From 8.4 on, some internal functions are called without a frame. Such a function is shown if it called the
 * newer frame. Returns 1 and its frame, or 0. */
static __always_inline int frameless(struct walk *w, struct php_scratch *s, __u64 *frame)
{
	__u64 func = 0;

	if (!s->proc.frameless || !place_of(w)->own.inner || place_of(w)->own.called == w->list.frame ||
		OP_CODE(s->own.op) - (__u32)OP_FRAMELESS >= FRAMELESS_KINDS)
		return 0;
	place_of(w)->own.called = w->list.frame;
	if (read_word(s->proc.frameless, &func) || read_word(func + 8ULL * OP_EXTENDED(s->own.op), &func) ||
		!func || (func & 7) || remember(w, s, func))
		return 0;
	*frame = FRAME_PHP(this_memo(s)->id & CODE_MASK, 0);
	return 1;
}

/* Returns the function of a frame, or NULL if it is not a function. id 0: the frame is not shown. */
static __always_inline struct list_memo *code_of(struct walk *w, struct php_scratch *s, __u64 func,
	__u64 previous)
{
	struct list_memo *m;

	if ((func & 7) || remember(w, s, func))
		return NULL;
	m = this_memo(s);
	if (m->id || m->type == TYPE_INTERNAL)
		return m;
	func |= m->type == TYPE_EVAL ? PHP_EVAL : php_entry_of(previous);
	return remember(w, s, func) ? NULL : this_memo(s);
}

/* Returns whether C has made the frame for a call but has not entered execute_ex() for it yet: its result goes to a
 * variable of a C frame newer than this loop's. This loop's own frame is the previous one. */
static __always_inline int is_pending(struct walk *w, struct php_scratch *s, __s64 o)
{
	__u64 to = frame_word(s, o + FRAME_RETURN);

	return frame_word(s, o + FRAME_FLAGS) & CALL_TOP && !place_of(w)->own.inner && to >= w->first_sp && to < w->sp;
}

/* Returns 0 on success, -1 on failure. */
static __always_inline int show_frame(struct walk *w, struct php_scratch *s, __s64 o, __u64 *frame)
{
	__u64 func = frame_word(s, o + FRAME_FUNC), flags = frame_word(s, o + FRAME_FLAGS);
	__u64 opline = frame_word(s, o + FRAME_OPLINE), previous = frame_word(s, o + FRAME_PREV), id;
	struct list_memo *m = func ? code_of(w, s, func, previous) : NULL;
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
	place_of(w)->own.inner = 1;
	return 0;
}

/* Returns whether this loop is about to return: its frame (x86_64: in r14, ZEND_VM_FP_GLOBAL_REG of php-src
 * Zend/zend_execute.c, also in compiled code) has left the list. */
static __always_inline int has_left(struct walk *w)
{
	__u64 own = w->regs[RULE_REG_R14], flags = 0, previous = 0;
	__u32 known = WALK_EXACT | WALK_REGS;

	if (WALK_ARM64(w) || place_of(w)->own.inner || !w->list_in || (w->flags & known) != known ||
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

/* Returns the frame of a function at an operation, or 0 if show_frame() must examine it. The line of a known operation
 * is kept for a second while the function is the same: name, file, first and last line, and the number and address of
 * its operations. If a file is compiled again and all of these stay the same, its new lines are seen a second late. The
 * verifier checks the branches of this function once, not in each place that calls it. */
__global __u64 php_batch_frame(struct walk *w, struct php_scratch *s, __u64 func, __u64 opline)
{
	struct list_memo *m;
	__u64 op[2] = {};

	if (!w || !s)
		return 0;
	m = memo_of(s, func);
	if ((!is_fresh(m, s, func) && !php_known(w, s, func)) || !m->id || m->type == TYPE_INTERNAL)
		return 0;
	if (m->opline != opline || m->tick != (__u32)s->own.tick) {
		if (bpf_probe_read_user(op, sizeof(op), (const void *)(opline + OP_TAIL)) ||
			OP_CODE(op) == OP_EXCEPTION || OP_CODE(op) >= OP_FRAMELESS)
			return 0;
		m->opline = opline;
		m->line = OP_LINE(op);
		m->tick = (__u32)s->own.tick;
	}
	return FRAME_PHP(m->id & CODE_MASK, m->line);
}

/* The fast way for most frames: they are in the window, not the last of their activation, and their function
 * has a name and is in the memo. */
__global int php_batch(struct walk *w)
{
	struct php_scratch *s = w ? scratch_of(w) : NULL;
	__u64 frame, window, last;
	int n = 0;

	if (!s || w->list.ended || !w->list.frame || !place_of(w)->own.inner)
		return 0;
	frame = w->list.frame;
	if ((frame & 7) || frame_at(w, s, frame) < 0)
		return 0;
	window = place_of(w)->window;
	last = place_of(w)->window_size - FRAME_BYTES;
	for (; n < LIST_BATCH; n++) {
		__u64 o = frame - window, shown;

		if (o > last || (o & 7) || (frame_word(s, o + FRAME_FLAGS) & CALL_TOP))
			break;
		shown = php_batch_frame(w, s, frame_word(s, o + FRAME_FUNC), frame_word(s, o + FRAME_OPLINE));
		if (!shown)
			break;
		w->list.batch[n] = shown;
		frame = frame_word(s, o + FRAME_PREV);
	}
	w->list.frame = frame;
	place_of(w)->own.inner |= n > 0;
	return n;
}

/* A build without ZTS has only one interpreter. */
__global int php_outer(struct walk *w)
{
	return -1;
}
