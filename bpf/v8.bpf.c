// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* v8.bpf.c - the kernel half of src/unwinders/v8.c: JavaScript's frames.
 *
 *     fp+8   return address
 *     fp     the caller's fp
 *     fp-8   context: a tagged pointer; or a Smi: the kind of a frame that is no function's
 *     fp-16  JSFunction
 *     ..     argument count (V8 9 on), BytecodeArray, offset in it
 *
 * The JSFunction moves when it is young; its SharedFunctionInfo seldom does, and names a
 * function here, with the process. Nothing is taken for an object before its map says so. */
#include "v8.h"
#include "walk.bpf.h"

#define V8_OFFSET_MAX 0xfffff
#define ENTRY_ARM64   160 /* JSEntry's frame there: callee-saved registers above the record */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct v8_proc);
} v8_procs SEC(".maps");

/* Places that were sent, by frame. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, __u32);
} v8_seen SEC(".maps");

#define V8_MEMO 128

/* A function whose objects' types were asked for: as long as it has the same
 * SharedFunctionInfo they are not asked for again, nor is that of the same bytecode. */
struct v8_memo {
	__u64 function, shared, bytecode;
	__u64 flags;
	__u32 pid, hidden;
};

struct v8_scratch {
	struct v8_record out;
	struct v8_memo memo[V8_MEMO];
};

/* By CPU and slot, as `walks` is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct v8_scratch);
} v8_scratch SEC(".maps");

/* Tagged pointers end in 01. */
static __always_inline int is_object(__u64 tagged)
{
	return (tagged & 3) == 1;
}

static __always_inline int is_smi(__u64 tagged)
{
	return !(__u32)tagged;
}

/* -1: it is none. A function of the program, as the next one: verified once. */
static __always_inline int read_type(__u64 tagged, __u32 map_type)
{
	__u64 map = 0;
	__u16 type = 0;

	if (!is_object(tagged) || read_user(tagged - 1, &map) || !is_object(map) ||
		bpf_probe_read_user(&type, sizeof(type), (void *)(map - 1 + map_type)))
		return -1;
	return type;
}

/* Once, for who calls it from not too deep. */
__global int v8_type(__u64 tagged, __u32 map_type)
{
	return read_type(tagged, map_type);
}

/* A word of the frame; 0, a Smi, when it cannot be read. */
__global __u64 v8_slot(struct walk *w, __s32 offset)
{
	__u64 v = 0;

	return w && !walk_word(w, w->fp + offset, &v) ? v : 0;
}

static __always_inline int instance_type(const struct v8_proc *p, __u64 tagged)
{
	return v8_type(tagged, p->map_type);
}

static __always_inline __u64 v8_mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}

/* Whether the slots below fp are there: an interrupted frame may not have them yet. */
static __always_inline int is_established(struct walk *w, __s16 slot)
{
	if ((w->fp & 7) || w->fp + slot < w->sp)
		return 0;
	return !(w->flags & WALK_EXACT) || WALK_ARM64(w) || prologue_words(w) < 0;
}

/* The place in the bytecode, from its first one on; -1: it is not interpreted. Code of
 * Sparkplug has the bytecode in its frame too. */
static __always_inline __s64 bytecode_offset(const struct v8_proc *p, struct v8_memo *m,
	__u64 offset, __u64 bytecode)
{
	if (!is_object(bytecode))
		return -1;
	if (m->bytecode != bytecode) {
		if (instance_type(p, bytecode) != p->bytecode_type)
			return -1;
		m->bytecode = bytecode;
	}
	if (!is_smi(offset))
		return -1;
	offset = (offset >> 32) - (p->bytecode_first - 1);
	return offset > V8_OFFSET_MAX ? -1 : (__s64)offset;
}

/* The JSFunction whose frame it is; 0: it is no function's. One that is C++ has it among its
 * arguments: above the return address new.target, then the function. */
static __always_inline __u64 function_of(struct walk *w, const struct v8_proc *p)
{
	__u64 context = v8_slot(w, p->frame_context), kind = 2ULL * p->builtin_exit;

	if (is_object(context))
		return v8_slot(w, p->frame_function);
	return kind && context == kind ? v8_slot(w, 24) : 0;
}

/* A builtin that programs cannot name: not in V8's own stacks either. */
#define SHARED_NATIVE 32 /* ORDER of V8's shared-function-info.tq: behind 5 bits of kind */

static __always_inline int is_hidden(const struct v8_proc *p, __u64 shared, __u64 flags)
{
	__u64 data = 1;

	return !(flags & SHARED_NATIVE) && !read_user(shared - 1 + p->shared_data, &data) &&
	       is_smi(data);
}

/* ---- first sight ---- */

/* ORDER of V8's objects/instance-type.h: the low bits of a string's type */
enum {
	V8_SEQUENTIAL = 0, V8_CONS = 1, V8_EXTERNAL = 2, V8_THIN = 5, V8_SHAPE = 7, V8_ONE_BYTE = 8,
	V8_UNCACHED = 16,
	V8_STRINGS = 128,
};

/* The string that a cons whose second part is empty, or a thin one, stands for; 0. */
static __always_inline __u64 string_behind(__u64 string, int shape)
{
	__u64 first = 0, second = 0;
	__u32 length = 0;

	if (read_user(string - 1 + 16, &first))
		return 0;
	if (shape == V8_CONS && (read_user(string - 1 + 24, &second) ||
		bpf_probe_read_user(&length, 4, (void *)(second - 1 + 12)) || length))
		return 0;
	return first;
}

/* The string's beginning; 0, or -1: it is none, or empty. What is in many parts is left to
 * userspace. */
__global int v8_read_text(__u64 string, __u32 map_type, struct v8_text *out)
{
	int type = read_type(string, map_type);
	__u32 length = 0;
	__u64 chars;

	if (!out)
		return -1;
	out->size = 0;
	if (type < 0 || type >= V8_STRINGS)
		return -1;
	if ((type & V8_SHAPE) == V8_CONS || (type & V8_SHAPE) == V8_THIN) {
		string = string_behind(string, type & V8_SHAPE);
		type = read_type(string, map_type);
		if (type < 0 || type >= V8_STRINGS)
			return -1;
	}
	chars = string - 1 + 16;
	if ((type & V8_SHAPE) == V8_EXTERNAL && !(type & V8_UNCACHED)) {
		if (read_user(string - 1 + 24, &chars))
			return -1;
	} else if ((type & V8_SHAPE) != V8_SEQUENTIAL) {
		return -1;
	}
	if (bpf_probe_read_user(&length, 4, (void *)(string - 1 + 12)) || !length)
		return -1;
	out->wide = !(type & V8_ONE_BYTE);
	length = length > V8_TEXT_MAX ? V8_TEXT_MAX : length << out->wide;
	if (length > V8_TEXT_MAX)
		length = V8_TEXT_MAX;
	if (bpf_probe_read_user(out->chars, length, (void *)chars))
		return -1;
	out->size = length;
	return 0;
}

/* Behind the variables and what is told of each: a class' variable, the name. */
#define SCOPE_TAIL 4

__global int v8_read_name(struct v8_record *r)
{
	__u64 name = 0, count = 0, at, slot = 0;
	struct v8_proc *p;
	__u32 pid;

	if (!r)
		return -1;
	pid = r->pid;
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	if (!p || read_user(r->shared - 1 + p->shared_name, &name))
		return -1;
	if (instance_type(p, name) != p->scope_type)
		return v8_read_text(name, p->map_type, &r->name);
	if (read_user(name - 1 + p->scope_count, &count))
		return -1;
	count >>= 32;
	at = name - 1 + p->scope_locals + 8 * (count < V8_SCOPE_HASHED ? 2 * count : count + 1);
	for (int i = 0; i < SCOPE_TAIL; i++, at += 8)
		if (!read_user(at, &slot) && is_object(slot) && !v8_read_text(slot, p->map_type, &r->name))
			return 0;
	return -1;
}

__global int v8_first_sight(struct v8_record *r)
{
	__u64 at = 0, frame; /* at: the script, then its name */
	struct v8_proc *p;
	__u32 word; /* the process, then any value */

	if (!r)
		return 0;
	frame = r->frame; /* Linux 6.1: no key in memory that was passed here */
	if (bpf_map_lookup_elem(&v8_seen, &frame))
		return 0;
	word = r->pid;
	p = bpf_map_lookup_elem(&v8_procs, &word);
	if (!p)
		return 0;
	r->head.kind = RECORD_V8;
	r->head.id = 0;
	r->name.size = r->file.size = 0;
	v8_read_name(r);
	if (!read_user(r->shared - 1 + p->shared_script, &at) && instance_type(p, at) == p->script_type &&
		!read_user(at - 1 + p->script_name, &at))
		v8_read_text(at, p->map_type, &r->file);
	if (!ring_output(r, sizeof(*r)))
		bpf_map_update_elem(&v8_seen, &frame, &word, BPF_ANY);
	return 0;
}

/* ---- a frame ---- */

static __always_inline struct v8_memo *memo_of_function(struct v8_scratch *s, __u64 function)
{
	__u64 i = function >> 4 ^ function >> 11;

	FORGET(i);
	return &s->memo[i & (V8_MEMO - 1)];
}

/* 0: it is a JSFunction, and m is of it. */
static __always_inline int learn_function(const struct v8_proc *p, struct v8_memo *m,
	__u64 function, __u64 shared)
{
	int type = instance_type(p, function);
	__u64 flags = 0;

	if (type < p->function_first || type > p->function_last ||
		instance_type(p, shared) != p->shared_type ||
		read_user(shared - 1 + p->shared_flags, &flags))
		return -1;
	m->function = function;
	m->shared = shared;
	m->bytecode = 0;
	m->flags = flags;
	m->hidden = is_hidden(p, shared, flags);
	return 0;
}

/* The frame of the function that runs; 0: it is no function's. */
__global __u64 v8_function(struct walk *w)
{
	__u64 function, shared = 0, offset, bytecode, id, frame, pc;
	struct v8_scratch *s;
	struct v8_memo *m;
	struct v8_proc *p;
	__u32 index;
	__s64 at;

	if (!w)
		return 0;
	index = w->pid;
	p = bpf_map_lookup_elem(&v8_procs, &index);
	index = bpf_get_smp_processor_id() * SCRATCH_SLOTS + (w->py.slot & (SCRATCH_SLOTS - 1));
	s = bpf_map_lookup_elem(&v8_scratch, &index);
	if (!p || !s || !is_established(w, p->frame_function))
		return 0;
	/* The lowest one first: the window is filled from there upwards. */
	offset = v8_slot(w, p->frame_offset);
	bytecode = v8_slot(w, p->frame_bytecode);
	function = function_of(w, p);
	if (!is_object(function) || read_user(function - 1 + p->function_shared, &shared))
		return 0;
	m = memo_of_function(s, function);
	if (m->function != function || m->shared != shared || m->pid != w->pid) {
		m->function = 0;
		m->pid = w->pid;
		if (learn_function(p, m, function, shared))
			return 0;
	}
	at = bytecode_offset(p, m, offset, bytecode);
	if (at < 0 && m->hidden)
		return 0;
	pc = at < 0 ? w->lookup : 0;
	id = v8_mix(v8_mix((__u64)w->pid << 32 | m->flags >> 32, shared), pc);
	frame = FRAME_JS(id, at < 0 ? 0 : at);
	if (w->store) {
		s->out.frame = frame;
		s->out.shared = shared;
		s->out.bytecode = m->bytecode == bytecode ? bytecode : 0;
		s->out.pc = pc;
		s->out.pid = w->pid;
		v8_first_sight(&s->out);
	}
	return frame;
}

/* How far the caller's sp is above fp. */
static __always_inline __u32 v8_frame_size(struct walk *w)
{
	struct v8_proc *p;
	__u64 kind = 0;
	__u32 pid = w->pid;

	if (!WALK_ARM64(w))
		return 16;
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	if (!p || walk_word(w, w->fp + p->frame_context, &kind))
		return 16;
	return kind == 2 * p->entry || kind == 2 * p->construct_entry ? ENTRY_ARM64 : 16;
}

__global int native_v8(struct walk *w)
{
	__u64 ra = 0, fp = 0;
	int err = 0;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	if ((w->flags & WALK_EXACT) && (WALK_ARM64(w) ? fp_top_arm(w, &err) : fp_top_x86(w, &err)))
		return err;
	if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
		return stop(UNWIND_NO_TABLE);
	if (walk_word(w, w->fp, &fp) || walk_word(w, w->fp + 8, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, w->fp + v8_frame_size(w), fp, 0);
}
