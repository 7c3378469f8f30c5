// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* ruby.bpf.c - the kernel half of src/unwinders/ruby/: CRuby's frames.
 *
 * The control frames of a thread or fiber are an array, newest first, up to the end of its stack. A frame names an
 * iseq and, by its environments, the entry of its method, which has the class. The id is a hash of label, class, file,
 * first line and size; the cookie is a hash of the words that name them.
 *
 * ruby.h describes the layouts. */
#include "ruby.h"

#include "python.h" /* enum python_tls_kind */

#define LIST_STEM       ruby
#define LIST_LANG       FRAME_LANG_RUBY
#define LIST_UNREADABLE RUBY_UNREADABLE
#define CODE_BITS       RUBY_CODE_BITS
#define FRAME_BYTES     64  /* bytes of a control frame of any version */
#define CODE_BYTES      128 /* at least the bytes of an iseq's body that are read */

/* The id is a hash of these: name, class, file. */
#define HASH_SECOND (RUBY_NAME_MAX / 8)
#define HASH_THIRD  (2 * RUBY_NAME_MAX / 8)
#define HASH_SECOND_SIZE class_size
#define HASH_THIRD_SIZE  file_size

/* The instructions: address, words; own.method, the hash of its class, and own.tick when that was read; the iseq's
 * body; own.stamp and own.major when the code was compared; major 0: the iseq is young. */
#define LIST_MEMO_OWN   __u64 start, method, class; __u32 size, tick; __u64 body; __u32 stamp, major;
#define LIST_LASTS      1
#define LAST_PATH       0 /* the hash of a file's path */
#define LIST_COPY       copy_proc
#define LIST_REST(w, s, frame) (place_of(w)->own.end + (s)->proc.at.frame_size - (frame))
#define TICK_SHIFT      27 /* of ns */
#define CLASS_BYTES     160 /* of a class, the smallest room that has its names */
#define ENVS_BYTES      1024
#define TEXT_END        32  /* bytes at the end of a text that tell it from others */

struct ruby_own {
	__u64 env[3];    /* ep[-2] to ep[0] of a frame */
	__u64 envs[ENVS_BYTES / 8]; /* a window on the part of the stack that has them */
	__u64 envs_at;   /* its address; 0: none */
	__u64 stack, stack_size; /* address and bytes of the thread's or fiber's stack; 0: unknown */
	__u64 body;      /* of the iseq whose head is in code[] */
	__u64 is_old;    /* whether only a major collection frees that iseq */
	__u64 method;    /* ep[-2] of the frame's method: its entry, or what leads to it; 0: unknown */
	__u64 path;      /* name of the class that the method was defined in: a String; 0: none */
	__u64 singleton; /* the method is the class's own */
	__u64 tick;      /* of this walk; the class of a method is read once in 0.13 s */
	__u32 stamp;     /* a hash of the collections that have begun; 0: unknown, or one marks */
	__u32 major;     /* the same, of major collections */
	__u64 counts[RUBY_COUNTS];
	__u64 object[CLASS_BYTES / 8];
	__u64 text[TEXT_END / 8];
	__u64 label;     /* the object with the label of the code object in s->out */
	struct {         /* the iseqs around it: the BPF stack is too short */
		__u64 iseq, end; /* from one to the other */
		__u32 kind, levels;
	} parents;
};

struct ruby_place {
	__u64 end;    /* end of the control frames: the last one is a dummy */
	__u64 newest; /* the first frame */
	__u64 skips;  /* the next frame of an iseq is not shown */
	__u64 ran;    /* the loop that the next vm_exec() has called was met */
	__u64 tag;    /* in the C frame of the newest vm_exec(); 0 after the first loop */
};

/* Copies push[] only if it is used. */
static __always_inline void copy_proc(struct ruby_proc *to, const struct ruby_proc *from)
{
	__builtin_memcpy(to, from, __builtin_offsetof(struct ruby_proc, push));
	if (from->pushes)
		__builtin_memcpy(to->push, from->push, sizeof(to->push));
}

#include "list.bpf.h"

_Static_assert(HASH_WORDS == HASH_THIRD + RUBY_FILE_MAX / 8, "a power of 2");

#define FRAME_UNKNOWN 1 /* not a frame's address, so ruby_next() fails to read it */
#define STACK_MAX     (1ULL << 30) /* bytes of a thread's stack */

/* rb_execution_context_t: vm_stack, vm_stack_size (words), cfp, tag: where an exception goes */
#define EC_STACK 0
#define EC_SIZE  8
#define EC_FRAME 16
#define EC_TAG   24

/* rb_control_frame_t */
#define FRAME_PC   0
#define FRAME_ISEQ 16
#define FRAME_EP   32
#define FLAG_FINISH 0x20
#define FLAG_CFRAME 0x80
#define MAGIC_MASK  0x7fff0000
#define MAGIC_CFUNC 0x55550000
#define MAGIC_RESCUE 0x78880000 /* rescue and ensure */

/* rb_iseq_t: body; rb_iseq_constant_body: iseq_size in the first word, iseq_encoded, location {pathobj, base_label,
 * label, first_lineno} */
#define ISEQ_BODY    16
#define BODY_BYTES   96
#define BODY_START   8
#define BODY_PATH    64
#define BODY_LABEL   80
#define BODY_LINE    88
#define TYPE_METHOD  1 /* enum rb_iseq_type */
#define TYPE_BLOCK   2
#define TYPE_PLAIN   8
#define PARENTS_MAX  64
#define INTERNAL     0x616e7265746e693cULL /* "<interna" */

/* ruby/vm_core.h: ep[-2] is a method entry, cref or svar {.., entry 8}, ep[-1] the environment around a block, with
 * two tag bits, ep[0] the flags. ruby/method.h: rb_callable_method_entry_t: def, owner; rb_method_definition_t:
 * original_id.
 * ruby/internal/imemo.h: the kind is in bits 12 to 15 of the flags. */
#define ENV_LOCAL    2 /* not a block's */
#define ENVS_MAX     32
#define METHOD_DEF   16
#define METHOD_BYTES 40
#define METHOD_OWNER 32
#define DEF_ID       32
#define IMEMO(type)  ((type) << 12 | TYPE_IMEMO)
#define IMEMO_MASK   (15 << 12 | TYPE_MASK)
#define IMEMO_SVAR   IMEMO(2)
#define IMEMO_METHOD IMEMO(6)
#define PERMANENT    (1ULL << 40)

/* ruby/symbol.h: rb_symbols_t: last_id, ids: an array of arrays of 512 pairs of a string and a symbol. ID:
 * the number above the kinds */
#define SYMBOLS_IDS  16
#define SYMBOLS_UNIT 512
#define ID_SHIFT     4

/* Objects: the flags, whose low bits are the type. RString: length 16, pointer 24. RArray: elements 16, or pointer
 * 32. */
#define TYPE_MASK    0x1f
#define TYPE_CLASS   2
#define TYPE_MODULE  3
#define TYPE_STRING  5
#define TYPE_ARRAY   7
#define TYPE_IMEMO   0x1a
#define FLAG_APART   (1 << 13) /* RSTRING_NOEMBED */
#define FLAG_EMBED   (1 << 13) /* RARRAY_EMBED_FLAG */

/* enum gc_mode, two bits */
#define GC_NONE  0
#define GC_SWEEP 2
#define GC_MODE  3

#define TLS_MAX      (4 << 20) /* size of a thread's variables */
#define MODULES_MAX  4096

/* ---- the process ---- */

__global __u64 ruby_compiled(struct walk *w)
{
	return 0;
}

static __always_inline void move_proc(struct ruby_proc *p, __u64 bias)
{
	p->ec_at += p->ec_kind > PYTHON_TLS_OFFSET ? bias : 0;
	p->symbols += p->symbols ? bias : 0;
	p->vm += p->vm ? bias : 0;
	p->pushes += p->pushes ? bias : 0;
	for (int i = 0; i < RUBY_EXEC_PARTS; i++)
		p->exec[i] += p->exec[i] ? bias : 0;
}

/* Returns the block of a module's thread-local variables, by glibc's vector of blocks: the word at `vector`. */
static __always_inline __u64 module_block(__u64 vector, __u64 module)
{
	__u64 at = 0, block = 0;

	if (module >= MODULES_MAX || read_word(vector, &at) || read_word(at + (module << 4), &block))
		return 0;
	return block;
}

/* Returns the thread's execution context, or 0. vector: the place of its modules' blocks. */
__global __u64 ruby_context(struct ruby_scratch *s, __u64 tp, __u64 vector)
{
	__u64 pair[2] = {}, base = tp, at, value = 0;
	__u32 kind;

	if (!s)
		return 0;
	at = s->proc.ec_at;
	kind = s->proc.ec_kind;
	if (kind == RUBY_EC_GLOBAL) {
		read_word(at, &value);
		return value;
	}
	if (kind != PYTHON_TLS_OFFSET) {
		if (bpf_probe_read_user(pair, kind == PYTHON_TLS_SLOT ? 8 : 16, (void *)at))
			return 0;
		at = pair[kind == PYTHON_TLS_DESC];
	}
	if (kind == PYTHON_TLS_PAIR || (kind == PYTHON_TLS_DESC && at + TLS_MAX >= 2 * TLS_MAX)) {
		if (kind == PYTHON_TLS_DESC && bpf_probe_read_user(pair, 16, (void *)at))
			return 0;
		base = module_block(vector, pair[0]);
		at = pair[1];
		if (!base)
			return 0;
	}
	read_word(base + at + (__u64)(__s64)s->proc.ec_add, &value);
	return value;
}

/* Returns whether the thread is making its newest frame, which still has the words of an earlier one. */
__global int ruby_pushes(struct walk *w, struct ruby_scratch *s)
{
	__u64 at, i = 0, k;
	__u32 found;

	if (!w || !s)
		return 0;
	at = w->first_pc - s->proc.pushes;
	if (!s->proc.pushes || at > RUBY_PUSH_SPAN)
		return 0;
	for (__u64 step = RUBY_PUSHES / 2; step; step /= 2) {
		k = i + step;
		FORGET(k);
		if (s->proc.push[k & (RUBY_PUSHES - 1)] >> RUBY_PUSH_BITS <= at)
			i = k;
	}
	FORGET(i);
	found = s->proc.push[i & (RUBY_PUSHES - 1)];
	return at - (found >> RUBY_PUSH_BITS) < (found & RUBY_PUSH_SIZE);
}

#include "ruby_stamp.bpf.h"

__global int ruby_begin(struct walk *w)
{
	struct ruby_scratch *s;
	__u64 ec, tp, words[4] = {};

	if (!w)
		return -1;
	s = begin(w);
	if (!s)
		return -1;
	w->list.frame = FRAME_UNKNOWN; /* there may be frames */
	s->own.stack = s->own.stack_size = s->own.envs_at = 0;
	if (!s->proc.ec_kind)
		return 0;
	tp = walk_tp(w);
	ec = ruby_context(s, tp, WALK_ARM64(w) ? tp : tp + 8);
	if (!ec) { /* not a thread of Ruby */
		w->list.frame = 0;
		return 0;
	}
	if (bpf_probe_read_user(words, sizeof(words), (const void *)ec) || words[EC_SIZE / 8] > STACK_MAX / 8)
		return 0;
	place_of(w)->own.end = words[EC_STACK / 8] + 8 * words[EC_SIZE / 8] - s->proc.at.frame_size;
	if (words[EC_STACK / 8] && words[EC_FRAME / 8] &&
		words[EC_FRAME / 8] - words[EC_STACK / 8] > 8 * words[EC_SIZE / 8]) /* a new thread's is at the end */
		return 0;
	s->own.stack = words[EC_STACK / 8];
	s->own.stack_size = 8 * words[EC_SIZE / 8];
	w->list.frame = words[EC_FRAME / 8];
	if (w->list.frame && ruby_pushes(w, s))
		w->list.frame += s->proc.at.frame_size;
	place_of(w)->own.newest = w->list.frame;
	place_of(w)->own.tag = words[EC_TAG / 8];
	s->own.tick = (__u32)(bpf_ktime_get_ns() >> TICK_SHIFT);
	ruby_stamp(s);
	return 0;
}

/* ---- code ---- */

/* Returns the hash of the code object in s->out. */
__global __u64 ruby_code_hash(struct ruby_scratch *s)
{
	struct list_hash hash = {};

	if (!s)
		return 0;
	hash.r = &s->out;
	hash.h = seen_mix((__u64)hash.r->first_line << 32 | hash.r->size,
		(__u64)hash.r->name_size << 32 | hash.r->file_size);
	hash.h = seen_mix(seen_mix(hash.h, hash.r->class_size), (__u64)hash.r->levels << 32 | hash.r->kind);
	bpf_loop(HASH_WORDS, hash_word, &hash, 0);
	return hash.h & CODE_MASK ? hash.h & CODE_MASK : 1;
}

static __always_inline __u64 code_hash(struct ruby_scratch *s)
{
	return ruby_code_hash(s);
}

/* Returns 0 on success, -1 on failure. */
static __always_inline int read_str(struct ruby_scratch *s, __u64 str, __u64 *out, __u32 max, __u32 *ret_size)
{
	__u64 head[4] = {}, from, length;
	__u32 size;

	if ((str & 7) || bpf_probe_read_user(head, sizeof(head), (const void *)str) ||
		(head[0] & TYPE_MASK) != TYPE_STRING)
		return -1;
	length = head[2];
	from = head[3];
	if (!(head[0] & FLAG_APART)) {
		from = str + s->proc.at.str_embed;
		if (s->proc.at.str_embed == 16)
			length = head[0] >> 14 & 31;
	}
	size = length > max ? max : (__u32)length;
	*ret_size = size;
	return bpf_probe_read_user(out, size, (const void *)from) ? -1 : 0;
}

/* The path is a string, or an array of the path and the real path. */
__global __u64 ruby_path(__u64 object)
{
	__u64 head[5] = {}, path = object;

	if ((object & 7) || bpf_probe_read_user(head, sizeof(head), (const void *)object))
		return 0;
	if ((head[0] & TYPE_MASK) == TYPE_ARRAY) {
		path = head[2];
		if (!(head[0] & FLAG_EMBED) && read_word(head[4], &path))
			return 0;
	}
	return path;
}

/* Returns an element of an array, or 0. */
static __always_inline __u64 element(__u64 array, __u64 i)
{
	__u64 flags = 0, from = array + 16, value = 0;

	if ((array & 7) || read_word(array, &flags) || (flags & TYPE_MASK) != TYPE_ARRAY)
		return 0;
	if (!(flags & FLAG_EMBED) && read_word(array + 32, &from))
		return 0;
	read_word(from + 8 * i, &value);
	return value;
}

/* Reads the name of the class of s->own.path. */
static __always_inline int read_class(struct ruby_scratch *s)
{
	struct ruby_code_record *r = &s->out;

	r->kind |= s->own.path && s->own.singleton ? RUBY_SINGLETON : 0;
	return s->own.path ? read_str(s, s->own.path, r->class, RUBY_NAME_MAX, &r->class_size) : 0;
}

/* Reads the name of the function in C whose ID is in s->code. */
__global int ruby_read_function(struct ruby_scratch *s)
{
	struct ruby_code_record *r;
	__u64 id, ids = 0;

	if (!s || !s->proc.symbols || read_word(s->proc.symbols + SYMBOLS_IDS, &ids))
		return -1;
	r = &s->out;
	id = s->code[0];
	id = (__u32)(id > s->proc.last_op ? id >> ID_SHIFT : id);
	if (read_class(s))
		return -1;
	return read_str(s, element(element(ids, id / SYMBOLS_UNIT), id % SYMBOLS_UNIT * 2), r->name, RUBY_NAME_MAX,
		&r->name_size);
}

static long count_block(__u32 i, void *data)
{
	struct ruby_scratch *s = *(struct ruby_scratch **)data; /* bpf_loop() passes only addresses of the stack */
	__u64 body = 0, type = 0;

	if (s->own.parents.iseq == s->own.parents.end)
		return 1;
	if (read_word(s->own.parents.iseq + ISEQ_BODY, &body) || read_word(body, &type) ||
		read_word(body + s->proc.at.local - 8, &s->own.parents.iseq))
		return 1;
	type = (__u32)type;
	s->own.parents.levels += type == TYPE_BLOCK;
	s->own.parents.kind |= type == TYPE_BLOCK || type == TYPE_PLAIN ? RUBY_BLOCK : 0;
	return 0;
}

/* Looks at the method, class or file that contains the code object of s->out, whose body is in s->code: sets own.label,
 * and the members of s->out that this gives. Returns 0. */
__global int ruby_read_method(struct ruby_scratch *s)
{
	__u64 body = 0, type = 0, label = 0;
	struct ruby_code_record *r;

	if (!s)
		return -1;
	r = &s->out;
	s->own.label = code_word(s, BODY_LABEL);
	s->own.parents.iseq = r->addr;
	s->own.parents.kind = s->own.parents.levels = 0;
	if (!s->proc.at.path || read_word(r->addr + ISEQ_BODY, &body) ||
		read_word(body + s->proc.at.local, &s->own.parents.end) ||
		read_word(s->own.parents.end + ISEQ_BODY, &body) || read_word(body, &type) ||
		read_word(body + BODY_LABEL, &label))
		return 0;
	if ((__u32)type == TYPE_METHOD && read_class(s))
		r->class_size = 0;
	if (!s->proc.at.is_merged)
		return 0;
	bpf_loop(PARENTS_MAX, count_block, &s, 0);
	r->kind |= s->own.parents.kind;
	r->levels = s->own.parents.levels;
	s->own.label = label;
	return 0;
}

/* Reads the names of the code object whose body is in s->code, after ruby_read_method(). */
__global int ruby_read_code(struct ruby_scratch *s)
{
	struct ruby_code_record *r;

	if (!s)
		return -1;
	r = &s->out;
	r->size = (__u32)(code_word(s, 0) >> 32);
	r->first_line = (__u32)(code_word(s, BODY_LINE) >> s->proc.at.line_tag);
	if (read_str(s, s->own.label, r->name, RUBY_NAME_MAX, &r->name_size))
		return -1;
	if (read_str(s, ruby_path(code_word(s, BODY_PATH)), r->file, RUBY_FILE_MAX, &r->file_size))
		return -1;
	if (s->proc.at.hides_internal && r->file_size > 8 && r->file[0] == INTERNAL)
		r->file_size = r->first_line = r->size = 0;
	return 0;
}

static __always_inline int name_code(struct ruby_scratch *s, __u64 addr, int readable)
{
	struct ruby_code_record *r = &s->out;

	r->addr = addr;
	r->name_size = r->class_size = r->file_size = r->first_line = r->size = r->kind = r->levels = 0;
	/* All are called from here: the kernel allows eight calls in one another. */
	if (readable && !(addr & 1 ? ruby_read_function(s) : ruby_read_method(s) || ruby_read_code(s)))
		return 0;
	r->name_size = r->class_size = r->file_size = r->first_line = r->size = r->kind = r->levels = 0;
	return -1;
}

static __always_inline __u32 record_size(const struct ruby_code_record *r)
{
	__u32 file = r->file_size;

	if (file > RUBY_FILE_MAX)
		file = RUBY_FILE_MAX;
	return __builtin_offsetof(struct ruby_code_record, file) + file;
}

/* Reads the head of the iseq, whose body is known, or the ID of the C function (addr | 1), into s->code. Returns 0 on
 * success. */
static __always_inline int read_body(struct ruby_scratch *s, __u64 addr, __u64 body)
{
	if (addr & 1)
		return read_word((addr & ~1ULL) + METHOD_DEF, &body) || read_word(body + DEF_ID, &s->code[0]);
	return bpf_probe_read_user(s->code, BODY_BYTES, (const void *)body);
}

/* The same without a known body. Sets own.body and own.is_old. */
static __always_inline int read_head(struct ruby_scratch *s, __u64 addr)
{
	__u64 *iseq = s->own.object;

	s->own.body = s->own.is_old = 0;
	if (addr & 1)
		return read_body(s, addr, 0);
	if (bpf_probe_read_user(iseq, ISEQ_BODY + 8, (const void *)addr))
		return -1;
	s->own.is_old = s->proc.at.old && (iseq[0] & s->proc.at.old) == s->proc.at.old;
	s->own.body = iseq[ISEQ_BODY / 8];
	return read_body(s, addr, s->own.body);
}

/* Reads the start of a class or module into own.object. Returns its type, or 0. */
static __always_inline __u64 read_module(struct ruby_scratch *s, __u64 module)
{
	__u64 type;

	if ((module & 7) || bpf_probe_read_user(s->own.object, CLASS_BYTES, (const void *)module))
		return 0;
	type = s->own.object[0] & TYPE_MASK;
	return type == TYPE_CLASS || type == TYPE_MODULE ? type : 0;
}

/* Sets own.path and own.singleton by own.method, as vm_backtrace.c does for caller_locations in 3.4. Returns a hash of
 * the words that decide about them. */
__global __u64 ruby_class(struct ruby_scratch *s)
{
	__u64 method, owner, type, at, attached;

	if (!s)
		return 0;
	s->own.path = s->own.singleton = 0;
	method = s->own.method;
	at = s->proc.at.path >> 3;
	attached = s->proc.at.attached >> 3;
	if (!at || at >= CLASS_BYTES / 8 || attached >= CLASS_BYTES / 8 || !method || (method & 7) ||
		bpf_probe_read_user(s->own.object, METHOD_BYTES, (const void *)method))
		return 0;
	if ((s->own.object[0] & IMEMO_MASK) == IMEMO_SVAR &&
		bpf_probe_read_user(s->own.object, METHOD_BYTES, (const void *)s->own.object[1]))
		return 0;
	if ((s->own.object[0] & IMEMO_MASK) != IMEMO_METHOD)
		return 0;
	owner = s->own.object[METHOD_OWNER / 8];
	type = read_module(s, owner);
	FORGET(attached);
	if (type == TYPE_CLASS && s->own.object[0] >> (s->proc.at.singleton & 63) & 1 &&
		attached < CLASS_BYTES / 8) {
		s->own.singleton = 1;
		type = read_module(s, s->own.object[attached]);
	}
	FORGET(at);
	if (type && at && at < CLASS_BYTES / 8 && s->own.object[at - 1] & PERMANENT)
		s->own.path = s->own.object[at];
	return seen_mix(owner, s->own.path ? ruby_text(s, s->own.path) : 0);
}

#include "ruby_memo.bpf.h"

/* ---- frames ---- */

/* The bytes at the end of the last page that a stack has. */
static __always_inline int read_alone(struct ruby_scratch *s, __u64 frame, __u64 *start, __u64 *size)
{
	*start = frame;
	*size = FRAME_BYTES;
	return bpf_probe_read_user(s->window, 40, (const void *)frame) ? -1 : 0;
}

/* pc is behind the instruction that runs. */
static __always_inline __u64 position(const struct list_memo *m, __u64 pc)
{
	__u64 at = (pc - m->start) / 8;

	return at && at <= m->size ? at - 1 : 0;
}

static __always_inline int read_env(struct ruby_scratch *s, __u64 ep)
{
	return bpf_probe_read_user(s->own.env, sizeof(s->own.env), (const void *)(ep - 16));
}

/* Reads it through the window: the frames before have theirs below this one. Returns 0 on success. */
__global int ruby_env(struct ruby_scratch *s, __u64 ep)
{
	__u64 at = ep - 16, o;

	if (!s)
		return -1;
	o = at - s->own.stack;
	if (o >= s->own.stack_size || (at & 7))
		return read_env(s, ep);
	if (at - s->own.envs_at > ENVS_BYTES - 24) {
		s->own.envs_at = o < ENVS_BYTES - 24 ? s->own.stack : ep + 8 - ENVS_BYTES;
		if (bpf_probe_read_user(s->own.envs, ENVS_BYTES, (const void *)s->own.envs_at)) {
			s->own.envs_at = 0;
			return read_env(s, ep);
		}
	}
	for (int i = 0; i < 3; i++)
		s->own.env[i] = load_word(s->own.envs, at - s->own.envs_at + 8 * i, ENVS_BYTES - 1);
	return 0;
}

/* Sets own.method if own.env has one: that of the method around a block, or of the block that is a method
 * (define_method). Returns whether it is the last environment to look at. */
static __always_inline int finds_method(struct ruby_scratch *s)
{
	__u64 method = s->own.env[0], flags = 0;

	if (!(s->own.env[2] & ENV_LOCAL) && (!method || (method & 7) || read_word(method, &flags) ||
		(flags & IMEMO_MASK) != IMEMO_METHOD))
		return 0;
	s->own.method = method;
	return 1;
}

static long outer_env(__u32 i, void *data)
{
	struct ruby_scratch *s = *(struct ruby_scratch **)data; /* bpf_loop() passes only addresses of the stack */

	return read_env(s, s->own.env[1] & ~3ULL) || finds_method(s);
}

/* Sets own.method from own.env and the environments around it; 0: there is none. Returns 0. */
__global int ruby_method(struct ruby_scratch *s)
{
	if (!s)
		return -1;
	s->own.method = 0;
	if (s->proc.at.path && !finds_method(s))
		bpf_loop(ENVS_MAX, outer_env, &s, 0);
	return 0;
}

/* Returns the address of the frame's code for ruby_code(), or 0 if the frame is not shown. */
static __always_inline __u64 code_of(struct ruby_scratch *s, __u64 iseq, __u64 flags)
{
	if (!(flags & FLAG_CFRAME))
		return iseq;
	if ((flags & MAGIC_MASK) != MAGIC_CFUNC || (s->own.env[0] & 7) || !s->own.env[0])
		return 0;
	return s->own.env[0] | 1;
}

/* Returns the memo of the frame's code, whose environment is in own.env. */
static __always_inline struct list_memo *find_memo(struct walk *w, struct ruby_scratch *s, __u64 code, __u64 pc)
{
	struct list_memo *m = memo_of(s, code);

	ruby_method(s);
	if (!is_fresh(m, s, code) || m->method != s->own.method)
		ruby_code(w, s, code, pc);
	return m;
}

/* Returns whether the frame is that of the method around a rescue or ensure, which stands for it. */
static __always_inline int is_merged(struct walk *w, struct ruby_scratch *s, __u64 code, __u64 flags)
{
	struct list_place *at = place_of(w);
	int skips;

	if (!s->proc.at.is_merged || !code || code & 1)
		return 0;
	skips = !!at->own.skips;
	at->own.skips = (flags & MAGIC_MASK) == MAGIC_RESCUE;
	return skips;
}

static __always_inline int is_first(struct walk *w)
{
	return w->list.frame == place_of(w)->own.newest;
}

/* Returns whether this loop is about to return: its frame has left the list, whose newest frame is that of the function
 * in C which called the loop. */
static __always_inline int has_left(struct walk *w, __u64 flags)
{
	return w->list_in && is_first(w) && w->sp == w->first_sp && flags & FLAG_CFRAME;
}

/* Returns whether C has made the frame for a call but has not entered a loop for it yet: the loop that called C has
 * begun, but this frame has not. */
static __always_inline int is_pending(struct walk *w, __u64 flags, const struct list_memo *m, __u64 pc)
{
	return w->list_in && is_first(w) && w->sp != w->first_sp && flags & FLAG_FINISH && pc == m->start;
}

static __always_inline int is_exec(const struct ruby_scratch *s, __u64 addr)
{
	int is = 0;

	for (int i = 0; i < RUBY_EXEC_PARTS; i++)
		is |= s->proc.exec[i] && addr - s->proc.exec[i] < s->proc.exec_size[i];
	return is;
}

/* Returns whether vm_exec() has called a loop, whose frames were shown. It has none before it begins, and while it
 * handles an exception that has ended its loop: then the loop's frames are its own, if it is the newest vm_exec(). */
static __always_inline int has_run(struct walk *w, int in_exec)
{
	struct list_place *at = place_of(w);
	int ran = !!at->own.ran;

	if (w->list_in)
		at->own.ran = !in_exec;
	return in_exec && ran;
}

/* Ends the frames of a loop. Returns 0. */
static __always_inline int end_loop(struct walk *w, int in_exec)
{
	struct list_place *at = place_of(w);

	if (in_exec)
		w->list.entry = at->own.tag; /* in another C frame: the frames are the next loop's */
	at->own.tag = 0;
	w->list.ended = 0;
	return 0;
}

__global int ruby_next(struct walk *w, __u64 *frame)
{
	struct ruby_scratch *s = w ? scratch_of(w) : NULL;
	__u64 code, ep, flags, pc, next;
	struct list_memo *m;
	int in_exec;
	__s64 o;

	if (!s || !frame)
		return -1;
	w->list.entry = 0;
	in_exec = w->list_in && is_exec(s, w->lookup);
	if (has_run(w, in_exec))
		return 0;
	if (w->list.frame >= place_of(w)->own.end && w->list.frame != FRAME_UNKNOWN)
		w->list.frame = 0;
	if (w->list.ended || !w->list.frame)
		return end_loop(w, in_exec);
	o = w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	ep = o < 0 ? 0 : frame_word(s, o + FRAME_EP);
	if (o < 0 || ruby_env(s, ep)) {
		w->list.frame = 0;
		return -1;
	}
	flags = s->own.env[2];
	if (!in_exec && has_left(w, flags))
		return 0;
	next = w->list.frame + s->proc.at.frame_size;
	code = code_of(s, frame_word(s, o + FRAME_ISEQ), flags);
	*frame = 0;
	if (code && !is_merged(w, s, code, flags)) {
		pc = frame_word(s, o + FRAME_PC);
		m = find_memo(w, s, code, pc);
		if (!(code & 1) && !in_exec && is_pending(w, flags, m, pc)) {
			w->list.frame = next;
			return 1;
		}
		w->list.in_c += code & 1;
		*frame = FRAME_RUBY(m->id & CODE_MASK, code & 1 ? 0 : position(m, pc));
	}
	w->list.ended = !!(flags & FLAG_FINISH);
	w->list.frame = next;
	return 1;
}

__global int ruby_batch(struct walk *w)
{
	return 0;
}

/* A thread has one list; vm_exec() needs no frames after its loop. */
__global int ruby_outer(struct walk *w)
{
	struct ruby_scratch *s = w ? scratch_of(w) : NULL;

	return s && place_of(w)->own.ran && is_exec(s, w->lookup) ? 0 : -1;
}
