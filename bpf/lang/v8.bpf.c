// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* v8.bpf.c - the kernel half of src/unwinders/v8/v8.c: JavaScript's frames.
 *
 *     fp+8   return address
 *     fp     the caller's fp
 *     fp-8   context, a tagged pointer; in frames without a function a Smi, the kind of the frame
 *     fp-16  JSFunction
 *     ..     argument count (V8 9 on), BytecodeArray, offset in it
 *
 * (src/execution/frame-constants.h, src/objects/js-function.tq and shared-function-info.tq of V8 7.8 to 14.6;
 * the differences between these versions are data, see src/unwinders/v8/rows.c)
 *
 * A young JSFunction moves; its SharedFunctionInfo seldom does, and together with the process names a
 * function here. A word counts as an object only if its map confirms that. */
#include "v8.h"

#include "bpf/walk/step.bpf.h"
#include "v8_around.bpf.h"
#include "v8_names.bpf.h"
#include "v8_state.bpf.h"

#ifndef STRATA_HOST
__global int v8_meet(struct walk *w)
{
	struct v8_scratch *s = w ? scratch_of(w) : NULL;
	struct v8_proc *of;
	__u32 pid, file;

	if (!s)
		return -1;
	pid = w->pid;
	file = w->map.file;
	if (bpf_map_lookup_elem(&v8_procs, &pid))
		return 0;
	of = bpf_map_lookup_elem(&v8_files, &file);
	if (!of)
		return -1;
	s->proc = *of;
	s->time = 0; /* the memos belong to another process */
	s->proc.generation = LANG_BY_KERNEL | (__u32)(bpf_ktime_get_ns() >> 8);
	/* A second mapping of the builtins gives no bias for data, see attach() in src/unwinders/v8/lang.c. */
	if (s->proc.epoch)
		s->proc.epoch = w->map.start - w->map.bias < s->proc.builtins ?
			s->proc.epoch + w->map.bias : 0;
	bpf_map_update_elem(&v8_procs, &pid, &s->proc, BPF_NOEXIST);
	return 0;
}
#endif

/* Returns whether the slots below fp are filled: an interrupted frame may not have them yet. */
static __always_inline int is_established(struct walk *w, struct v8_scratch *s, int around)
{
	if ((w->fp & 7) || w->fp + s->proc.frame_function < w->sp || (around & V8_FRAMELESS))
		return 0;
	return !(w->flags & WALK_EXACT) || RULE_OFFSET(w->rule) == V8_FRAME || WALK_ARM64(w) || prologue_words(w) < 0;
}

/* Returns the offset in the bytecode, counted from the first bytecode, or -1 if the words are
 * not a bytecode position. */
static __always_inline __s64 bytecode_offset(const struct v8_proc *p, __u64 offset, __u64 bytecode)
{
	if (!is_object(bytecode) || !is_smi(offset))
		return -1;
	offset = (offset >> 32) - (p->bytecode_first - 1);
	return offset > V8_OFFSET_MAX ? -1 : (__s64)offset;
}

/* Returns the frame's JSFunction, or 0 if it is not a function's frame. A builtin in C++ has it among its
 * arguments: above the return address come new.target, then the function. */
static __always_inline __u64 function_of(struct walk *w, const struct v8_proc *p)
{
	__u64 context = v8_slot(w, p->frame_context), kind = 2ULL * p->builtin_exit;

	if (is_object(context))
		return v8_slot(w, p->frame_function);
	return kind && context == kind ? v8_slot(w, 24) : 0;
}

/* Returns V8_OPAQUE for a function's frame in a V8 whose objects are unknown, else 0. Such frames are in
 * compiled code, or in the interpreter with an offset in the bytecode, which is a Smi of 32 or of 64 bits. */
static __always_inline __u64 opaque_function(struct walk *w, const struct v8_proc *p, int established)
{
	__u64 offset, bytecode;

	if (!established)
		return w->map.flags & MAPPING_ANON ? V8_OPAQUE : 0;
	offset = v8_slot(w, p->frame_offset);
	bytecode = v8_slot(w, p->frame_bytecode);
	if (!is_object(function_of(w, p)))
		return 0;
	if (w->map.flags & MAPPING_ANON)
		return V8_OPAQUE;
	if (is_smi(offset))
		offset >>= 31;
	return is_object(bytecode) && offset && !(offset & 1) && offset >> 1 <= V8_OFFSET_MAX ? V8_OPAQUE : 0;
}

static __always_inline int is_wasm(const struct v8_proc *p, __u64 context)
{
	return p->wasm && context == 2ULL * p->wasm;
}

/* A builtin that programs cannot name; V8's own stacks omit it, too. */
#define SHARED_NATIVE 32 /* ORDER of V8's shared-function-info.tq: after 5 bits of kind */

/* ---- a frame ---- */

static __always_inline __u64 memo_hash(__u64 function, __u64 where, __u64 offset)
{
	return (function ^ where << 7 ^ offset >> 29) * 0x9e3779b97f4a7c15ULL;
}

/* A code position has two slots, which are neighbours. */
#define MEMO_SLOT(hash) (V8_MEMO / 2 + (__u32)((hash) >> 55))
_Static_assert(V8_MEMO / 2 == 1 << (64 - 55), "the hash's upper bits");

/* Returns the copy of a memo for the frame at fp. */
static __always_inline struct v8_memo *copy_at(struct v8_scratch *s, __u64 fp)
{
	fp >>= V8_PLACE_SHIFT;
	FORGET(fp);
	return &s->memo[fp & (V8_MEMO / 2 - 1)];
}

static __always_inline int is_of(const struct v8_memo *m, __u64 who, __u64 function, __u64 where, __u64 offset)
{
	return m->function == function && m->where == where && m->offset == offset >> 32 &&
	       m->who == who;
}

/* Returns a sum of two counts that only grow: it is the same as long as V8 has begun no garbage collection and made
 * no isolate. 0: unknown. */
static __always_inline __u32 v8_time(const struct v8_proc *p)
{
	__u32 collections = 0, isolates = 0;

	if (!p->epoch || bpf_probe_read_user(&collections, 4, (void *)p->epoch) ||
		(p->isolates && bpf_probe_read_user(&isolates, 4, (void *)(p->epoch + p->isolates))))
		return 0;
	return 1 + collections + isolates;
}

/* Returns whether the memo was checked in this round, or since V8 was calm. */
static __always_inline int is_checked(const struct v8_scratch *s, const struct v8_memo *m)
{
	return m->round == s->round || (m->calm && m->calm == s->time);
}

/* Returns V8's time if it is calm: no collection of the function's heap has begun and not ended. So the next one that
 * moves or frees objects changes V8's time before. In a walk that begins in V8's code, the thread is not within a pause
 * for a collection; and between pauses, the pages of the heap say whether V8 marks. The code of WebAssembly's functions
 * is freed without a collection. Returns 0 otherwise. */
static __always_inline __u32 calm_time(struct v8_scratch *s, const struct v8_memo *m)
{
	__u64 page = m->function & ~(V8_PAGE - 1ULL);
	__u32 flags = 0;

	if (!s->calm || m->in_stream == V8_INSTANCE)
		return 0;
	if (page == s->calm_page)
		return s->time;
	if (bpf_probe_read_user(&flags, 4, (void *)(page + s->proc.page_flags)) || flags & s->proc.page_marking)
		return 0;
	s->calm_page = page;
	return s->time;
}

/* Runs once in a walk, at its first frame of V8. Returns 0 on success, -1 on failure. A round of walks lasts until
 * a garbage collection begins. One that began before may end within the round, but takes longer than a round lasts. */
__global int v8_begin(struct walk *w)
{
	struct v8_scratch *s;
	struct v8_proc *p;
	__u32 pid, time;
	__u64 now;

	if (!w)
		return -1;
	pid = w->pid;
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	s = scratch_of(w);
	if (!p || !s)
		return -1;
	w->frame_begun = FRAME_LANG_JS;
	own_of(w)->budget = 2 * CODE_WORDS;
	now = bpf_ktime_get_ns();
	time = v8_time(p);
	s->who = p->generation | (__u64)w->tid << 32;
	s->calm = time && p->isolates && p->page_marking && (w->flags & WALK_EXACT);
	s->calm_page = 1;
	if (time && time == s->time && p->generation == s->proc.generation && now - s->began < V8_TRUST)
		return 0;
	s->time = time;
	s->began = now;
	s->proc = *p;
	s->code_start = s->code_span = 0;
	s->blob_start = s->blob_span = 0;
	s->interpreter = 0;
	s->round++;
	return 0;
}

/* Returns a word of the SharedFunctionInfo that was read, which starts at shared_data. */
static __always_inline __u64 shared_word(struct v8_scratch *s, __u32 offset)
{
	__u64 i = (offset - s->proc.shared_data) >> 3;

	FORGET(i);
	return s->words[i & (V8_WORDS - 1)];
}

/* Returns a hash that is the same while this is the same SharedFunctionInfo with the same code, or 0 if it is
 * not readable. It contains the number of the SharedFunctionInfo, or of its script, which is never used again. */
static __always_inline __u64 read_shared(struct v8_scratch *s, __u64 shared)
{
	__u32 last = s->proc.shared_unique ? s->proc.shared_unique : s->proc.shared_flags;
	__u32 size = last + 8 - s->proc.shared_data;
	__u64 id = 0, script;

	if (size > sizeof(s->words) || bpf_probe_read_user(s->words, size,
		(void *)(shared - 1 + s->proc.shared_data)))
		return 0;
	if (s->proc.shared_unique) {
		id = (__u32)shared_word(s, s->proc.shared_unique);
	} else {
		script = shared_word(s, s->proc.shared_script);
		if (read_user(script - 1 + s->proc.script_id, &id))
			return 0;
	}
	s->words[V8_WORDS - 1] = id;
	return v8_mix(v8_mix(v8_mix(0, s->words[0]), shared_word(s, s->proc.shared_flags)), id) | 1;
}

/* Returns such a hash for compiled code, of its map and the next words, which differ in another object. */
static __always_inline __u64 read_stream(struct v8_scratch *s, __u64 stream)
{
	if (bpf_probe_read_user(s->words, 24, (void *)stream))
		return 0;
	return v8_mix(v8_mix(v8_mix(0, s->words[0]), s->words[1]), s->words[2]) | 1;
}

/* Returns such a hash for compiled code of a function. Code of another function that V8 allocates in the same order
 * after a collection has the same words at the same place, so the function is in the hash. */
static __always_inline __u64 read_code(struct v8_scratch *s, __u64 stream, __u64 shared)
{
	__u64 code = read_stream(s, stream), of = code ? read_shared(s, shared) : 0;

	return of ? v8_mix(code, of) | 1 : 0;
}

/* Returns 0 if the memo is still valid. */
__global int v8_verify(struct v8_scratch *s, __u32 k)
{
	struct v8_memo *m;
	__u64 shared = 0, print;

	if (!s)
		return -1;
	m = &s->memo[k & (V8_MEMO - 1)];
	/* A dead object keeps its content for a while, so compare the function's object first. */
	if (m->in_stream != V8_INSTANCE && read_user(m->function - 1 + s->proc.function_shared, &shared))
		goto not;
	if (m->in_stream == V8_INSTANCE)
		print = read_stream(s, m->object);
	else if (m->in_stream == V8_CODE)
		print = read_code(s, m->object, shared);
	else
		print = shared == m->object ? read_shared(s, shared) : 0;
	if (print != m->print)
		goto not;
	m->round = s->round;
	m->calm = calm_time(s, m);
	return 0;
not:
	m->function = 0;
	return -1;
}

/* ---- the object of compiled code ------------------------------------------- */

struct stream_search {
	struct v8_scratch *s;
	__u64 top, found;
};

static long stream_word(__u32 i, void *data)
{
	struct stream_search *c = data;
	struct v8_scratch *s = c->s;
	__u64 at = c->top - 8ULL * i, k = at >> 3 & (CODE_CHUNK / 8 - 1), v;
	__u16 type = 0;

	if ((!i || k == CODE_CHUNK / 8 - 1) &&
		bpf_probe_read_user(s->chunk, CODE_CHUNK, (void *)(at & ~(CODE_CHUNK - 1ULL))))
		return 1;
	FORGET(k);
	v = s->chunk[k & (CODE_CHUNK / 8 - 1)];
	if (!is_object(v) || v >> V8_ADDRESS_BITS ||
		bpf_probe_read_user(&type, sizeof(type), (void *)(v - 1 + s->proc.map_type)) ||
		type != s->proc.stream_type)
		return 0;
	c->found = at;
	return 1;
}

/* Finds the object that contains the instructions at w->lookup: searches backwards for its map.
 * Returns 0 if it is not found. */
__global __u64 v8_stream(struct walk *w, struct v8_scratch *s)
{
	struct stream_search c = {};
	long n;

	if (!w || !s)
		return 0;
	c.s = s;
	c.top = w->lookup & ~7ULL;
	if (own_of(w)->budget < CODE_WORDS)
		return 0;
	n = bpf_loop(CODE_WORDS, stream_word, &c, 0);
	own_of(w)->budget -= n < 0 ? 0 : n & (2 * CODE_WORDS - 1);
	return c.found;
}

/* ---- an unknown code position ---- */

/* WebAssembly's functions have no object: the instance and the address stand for them. Userspace finds the function. */
static __always_inline int learn_wasm(struct v8_scratch *s, struct v8_memo *m)
{
	m->object = s->place.function - 1;
	m->print = read_stream(s, m->object);
	m->in_stream = V8_INSTANCE;
	m->frame = v8_mix(s->proc.generation, s->place.function) | 1;
	return m->print ? 0 : -1;
}

/* Fills the memo of s->place, except for its code. Returns 0, or -1 if the function is not a JSFunction. */
__global int v8_learn(struct walk *w, struct v8_scratch *s)
{
	__u64 shared = 0, flags, id;
	const struct v8_proc *p;
	struct v8_place *f;
	struct v8_memo *m;
	int type;

	if (!w || !s)
		return -1;
	p = &s->proc;
	f = &s->place;
	m = &s->memo[f->k & (V8_MEMO - 1)];
	m->function = 0;
	if (f->wasm)
		return learn_wasm(s, m);
	type = instance_type(p, f->function);
	if (type < p->function_first || type > p->function_last ||
		read_user(f->function - 1 + p->function_shared, &shared) ||
		instance_type(p, shared) != p->shared_type)
		return -1;
	m->print = read_shared(s, shared);
	if (!m->print)
		return -1;
	flags = shared_word(s, p->shared_flags);
	/* Numbers are unique only within an isolate: a worker's thread has its own. */
	id = v8_mix(v8_mix(p->generation, s->words[V8_WORDS - 1]), flags >> 32 | (__u64)w->tid << 32);
	if ((__s64)flags >> 32 == -1) /* without a script */
		id = v8_mix(id, shared);
	m->object = f->shared = shared;
	m->in_stream = V8_SHARED;
	m->frame = f->at < 0 && !(flags & SHARED_NATIVE) && is_smi(s->words[0]) ? 0 : id | 1;
	return 0;
}

static __always_inline int find_memo(struct v8_scratch *s, struct v8_place *f)
{
	__u64 offset = f->at < 0 ? 0 : f->offset, hash = memo_hash(f->function, f->where, offset);
	__u32 k = MEMO_SLOT(hash);

	f->k = k;
	if (is_of(&s->memo[k & (V8_MEMO - 1)], s->who, f->function, f->where, offset))
		return 0;
	f->k = k ^ 1;
	if (is_of(&s->memo[f->k & (V8_MEMO - 1)], s->who, f->function, f->where, offset))
		return 0;
	/* Take the first slot if its memo may be old. */
	if (!is_checked(s, &s->memo[k & (V8_MEMO - 1)]))
		f->k = k;
	return -1;
}

/* Returns whether the code object at `stream` (0: not found) is optimised. */
static __always_inline int is_optimized(const struct v8_proc *p, __u64 stream)
{
	__u64 code = stream + 1;
	__u32 flags;

	if (!stream || !p->code_mask || (p->code_apart && read_user(stream + 8, &code)) ||
		bpf_probe_read_user(&flags, sizeof(flags), (void *)(code - 1 + p->code_flags)))
		return 0;
	flags &= p->code_mask;
	return flags >= p->code_first && flags <= p->code_last;
}

/* Fills the memo number place.k. Returns 0 on success, -1 on failure. */
__global int v8_learn_place(struct walk *w, struct v8_scratch *s)
{
	__u64 stream, code = 0;
	struct v8_place *f;
	struct v8_memo *m;

	if (!w || !s)
		return -1;
	f = &s->place;
	stream = f->compiled && !f->wasm ? v8_stream(w, s) : 0;
	if (f->compiled && f->words >= 0 && !is_optimized(&s->proc, stream)) {
		f->at = f->words;
		f->where = f->bytecode;
		if (!find_memo(s, f) && !v8_verify(s, f->k))
			return 0;
	}
	if (f->at >= 0 && instance_type(&s->proc, f->bytecode) != s->proc.bytecode_type) {
		f->at = -1;
		f->where = w->lookup;
		if (!find_memo(s, f) && !v8_verify(s, f->k))
			return 0;
	}
	if (v8_learn(w, s))
		return -1;
	m = &s->memo[f->k & (V8_MEMO - 1)];
	if (f->compiled && !f->wasm && f->at < 0 && m->frame) {
		code = stream ? read_stream(s, stream) : 0;
		if (code) {
			m->print = v8_mix(code, m->print) | 1;
			m->object = stream;
			m->in_stream = V8_CODE;
		}
	}
	if (m->frame && f->at < 0)
		m->frame = FRAME_JS(v8_mix(v8_mix(m->frame, f->where), code), 0);
	else if (m->frame)
		m->frame = FRAME_JS(v8_mix(m->frame, 0), f->at);
	m->function = f->function;
	m->where = f->where;
	m->offset = f->at < 0 ? 0 : f->offset >> 32;
	m->who = s->who;
	m->round = s->round;
	m->calm = calm_time(s, m);
	m->sent = !m->frame;
	return 0;
}

static __always_inline void send_place(struct walk *w, struct v8_scratch *s, struct v8_memo *m,
	struct v8_place *f)
{
	int has_bytecode = f->at >= 0 || (is_object(f->bytecode) &&
		instance_type(&s->proc, f->bytecode) == s->proc.bytecode_type);

	if (f->wasm)
		f->shared = f->function;
	else if (!f->shared && read_user(f->function - 1 + s->proc.function_shared, &f->shared))
		return;
	if (!f->wasm && !read_shared(s, f->shared))
		return;
	s->out.frame = m->frame;
	s->out.shared = f->shared;
	s->out.flags = f->wasm ? 0 : shared_word(s, s->proc.shared_flags);
	s->out.unique = f->wasm ? 0 : s->words[V8_WORDS - 1];
	s->out.bytecode = has_bytecode ? f->bytecode : 0;
	s->out.pc = f->at < 0 ? f->where : 0;
	s->out.head.pid = w->pid;
	s->out.head.time = bpf_ktime_get_ns();
	s->out.compiled = !!f->compiled;
	s->out.wasm = f->wasm;
	m->sent = !v8_first_sight(&s->out);
}

/* Remembers the bounds of a frame's code for the next frames. */
static __always_inline void note_code(struct walk *w, struct v8_scratch *s)
{
	if (w->map.flags & MAPPING_ANON) {
		s->code_start = w->map.start;
		s->code_span = w->map.end - w->map.start;
		return;
	}
	s->blob_start = w->map.bias + s->proc.builtins;
	s->blob_span = s->proc.builtins_size;
	s->blob_bias = w->map.bias;
	s->blob_file = w->map.file;
}

/* Returns the frame of a compiled wrapper, else 0. jsstack has none: the generic wrappers are native functions. */
static __always_inline __u64 wrapper(struct walk *w, const struct v8_proc *p, __u64 context)
{
	if (!context || w->filter || !(w->map.flags & MAPPING_ANON))
		return 0;
	return context == 2ULL * p->to_wasm ? V8_TO_WASM : context == 2ULL * p->from_wasm ? V8_FROM_WASM : 0;
}

/* Returns the frame of the function that runs, or 0 if it is not a function's frame. */
__global __u64 v8_frame(struct walk *w)
{
	struct v8_scratch *s;
	struct v8_place *f;
	struct v8_memo *m;
	__u64 context = 0;
	int around;

	if (!w || (w->frame_begun != FRAME_LANG_JS && v8_begin(w)))
		return 0;
	s = scratch_of(w);
	if (!s)
		return 0;
	f = &s->place;
	f->wasm = 0;
	note_code(w, s);
	around = (w->flags & WALK_EXACT) ? v8_around(w) : 0;
	if (s->proc.opaque)
		return opaque_function(w, &s->proc, is_established(w, s, around));
	if (!is_established(w, s, around)) {
		f->offset = f->bytecode = 0;
		f->function = around & V8_BEGINS ? w->regs[WALK_ARM64(w) ? RULE_REG_X1 : RULE_REG_RDI] : 0;
	} else {
		/* Lowest slot first: the window is filled upwards from there. */
		f->offset = v8_slot(w, s->proc.frame_offset);
		f->bytecode = v8_slot(w, s->proc.frame_bytecode);
		f->function = function_of(w, &s->proc);
		context = v8_slot(w, s->proc.frame_context);
		if (is_wasm(&s->proc, context)) {
			f->wasm = 1;
			f->offset = f->bytecode = 0;
			f->function = v8_slot(w, s->proc.frame_function);
		}
	}
	if (!is_object(f->function))
		return f->wasm ? V8_WASM : wrapper(w, &s->proc, context);
	f->shared = 0;
	f->compiled = w->map.flags & MAPPING_ANON;
	f->words = bytecode_offset(&s->proc, f->offset, f->bytecode);
	/* After a switch to compiled code, a frame keeps its interpreter's words. Compiled code may also be a
	 * copy of the interpreter (--interpreted-frames-native-stack). */
	f->at = f->compiled ? -1 : f->words;
	f->where = f->at < 0 ? w->lookup : f->bytecode;
	if (find_memo(s, f))
		f->k |= V8_MEMO;
	else if (!is_checked(s, &s->memo[f->k & (V8_MEMO - 1)]) && v8_verify(s, f->k))
		f->k |= V8_MEMO;
	if ((f->k & V8_MEMO) && v8_learn_place(w, s)) {
		if (w->flags & WALK_LATE) /* it was a function when the stack was copied */
			w->cause = UNWIND_MOVED;
		return 0;
	}
	m = &s->memo[f->k & (V8_MEMO - 1)];
	if (f->at >= 0 && !f->compiled)
		s->interpreter = w->lookup;
	if (m->frame && w->store && !m->sent)
		send_place(w, s, m, f);
	*copy_at(s, w->fp) = *m;
	return m->frame;
}

/* Finds the memo of s->place, which is the frame at fp, and copies it to the frame's place. Returns 0, or -1 if the
 * code position is unknown or not sent yet. */
__global int v8_known(struct walk *w, struct v8_scratch *s, __u64 fp)
{
	struct v8_memo *m;
	__u32 k;
	__u64 h;

	if (!w || !s)
		return -1;
	h = memo_hash(s->place.function, s->place.where, s->place.offset);
	k = MEMO_SLOT(h);
	m = &s->memo[k & (V8_MEMO - 1)];
	if (!is_of(m, s->who, s->place.function, s->place.where, s->place.offset)) {
		k ^= 1;
		m = &s->memo[k & (V8_MEMO - 1)];
		if (!is_of(m, s->who, s->place.function, s->place.where, s->place.offset))
			return -1;
	}
	if (m->sent < w->store || (!is_checked(s, m) && v8_verify(s, k)))
		return -1;
	*copy_at(s, fp) = *m;
	return 0;
}

/* Returns the memo of the function's frame at offset o in the window, or NULL if its code position is
 * unknown or not sent yet. */
static __always_inline struct v8_memo *known_place(struct walk *w, struct v8_scratch *s, __u64 o, __u64 lookup)
{
	__u64 function = window_word(w, o + s->proc.frame_function);
	__u64 where = lookup, offset = 0;
	struct v8_memo *m = copy_at(s, w->window_at + o);

	if (lookup == s->interpreter) {
		where = window_word(w, o + s->proc.frame_bytecode);
		offset = window_word(w, o + s->proc.frame_offset);
	}
	if (is_of(m, s->who, function, where, offset) && is_checked(s, m) && m->sent >= w->store)
		return m;
	s->place.function = function;
	s->place.where = where;
	s->place.offset = offset;
	return v8_known(w, s, w->window_at + o) ? NULL : m;
}

/* The fast way for most frames of functions and builtins: their code was seen before, all their words are in
 * the window, and their code positions are known. Returns the address that the window lacks, LANG_MORE, or 0. */
__global __u64 v8_frames(struct walk *w)
{
	__u32 index;
	__u64 pc, sp, fp, hash, wanted = 0, gone = 0;
	struct stack_record *out;
	struct v8_scratch *s;
	__u32 nr, on = 1;
	int i;

	if (!w)
		return 0;
	index = w->slot;
	out = bpf_map_lookup_elem(&frames, &index);
	s = bpf_map_lookup_elem(&v8_scratch, &index);
	if (!out || !s || w->frame_begun != FRAME_LANG_JS)
		return 0;
	pc = w->pc;
	sp = w->sp;
	fp = w->fp;
	nr = w->nr;
	hash = w->hash;
	for (i = 0; i < V8_FAST; i++) {
		__u64 lookup = pc - 1, o = fp - w->window_at, context, frame = 0, ra;
		int compiled = lookup - s->code_start < s->code_span;

		if (!compiled && lookup - s->blob_start >= s->blob_span) {
			on = 0;
			break;
		}
		if ((fp & 7) || fp - 16 < sp || nr >= w->limit)
			break;
		if (o - V8_BELOW > WINDOW_BYTES - V8_BELOW - 16) {
			wanted = own_of(w)->asked == fp ? 0 : fp - V8_BELOW;
			own_of(w)->asked = fp;
			break;
		}
		context = window_word(w, o + s->proc.frame_context);
		if (is_object(context) || is_wasm(&s->proc, context)) {
			struct v8_memo *m = known_place(w, s, o, lookup);

			if (!m)
				break;
			frame = m->frame;
		} else if ((context & 1) || context == 2ULL * s->proc.builtin_exit ||
			   (WALK_ARM64(w) && (context == 2ULL * s->proc.entry ||
				context == 2ULL * s->proc.construct_entry))) {
			break;
		}
		if (!frame && !w->filter) {
			if (compiled)
				break;
			frame = FRAME_NATIVE(s->blob_file, lookup - s->blob_bias);
		}
		ra = strip(w, window_word(w, o + 8));
		if (!ra)
			break;
		if (frame) {
			store_frame(w, out, nr++, frame);
			hash = STACK_HASH(hash, frame);
		}
		sp = fp + 16;
		fp = window_word(w, o);
		pc = ra;
		gone = WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED;
	}
	if (i == V8_FAST)
		wanted = LANG_MORE;
	w->flags &= ~gone;
	w->frame_lang = on ? FRAME_LANG_JS : 0;
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->nr = nr;
	w->hash = hash;
	return wanted;
}

/* arm64: returns the process if C++ entered V8 by this frame, which has callee-saved registers above its
 * record, or around it; else NULL. */
static __always_inline struct v8_proc *entry_of(struct walk *w)
{
	struct v8_proc *p;
	__u64 kind = 0;
	__u32 pid = w->pid;

	if (!WALK_ARM64(w))
		return NULL;
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	if (!p || walk_word(w, w->fp + p->frame_context, &kind))
		return NULL;
	return kind == 2 * p->entry || kind == 2 * p->construct_entry ? p : NULL;
}

/* The called code has no frame: RA is still where the call put it. */
static __always_inline int by_call(struct walk *w)
{
	__u64 ra = w->lr;

	if (!WALK_ARM64(w) && walk_word(w, w->sp, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, strip(w, ra), WALK_ARM64(w) ? w->sp : w->sp + 8, w->fp, 1);
}

__global int v8_unwind(struct walk *w)
{
	__u64 ra = 0, fp = 0, at, sp;
	struct v8_proc *entry;
	int err = 0;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	if ((w->flags & WALK_EXACT) && (v8_around(w) & V8_FRAMELESS))
		return by_call(w);
	if ((w->flags & WALK_EXACT) && RULE_OFFSET(w->rule) != V8_FRAME &&
		(WALK_ARM64(w) ? fp_top_arm(w, &err) : fp_top_x86(w, &err)))
		return err;
	if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
		return stop(UNWIND_NO_TABLE);
	entry = entry_of(w);
	at = w->fp + (entry ? entry->entry_record : 0);
	sp = w->fp + (entry ? entry->entry_size : 16);
	if (walk_word(w, at, &fp) || walk_word(w, at + 8, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, sp, fp, 0);
}

__global int v8_above(struct walk *w)
{
	return stop(UNWIND_COMPLETE);
}
