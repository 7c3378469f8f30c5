// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* walk.bpf.c - the walk: from the thread's registers to a stack's id.
 *
 * One bpf_loop iteration is one frame. Where the frame is an interpreter's loop, the
 * language says which of its frames stand in its place. The id is folded frame by
 * frame; a stack is sent when its id is seen for the first time, and only what was
 * sent counts as seen. */
#include "lookup.bpf.h"
#include "bpf/lib/seen.bpf.h"
#include "bpf/lib/who.bpf.h"

#define PLAIN_FRAMES 8
#define FRAMES_MASK_DEFAULT 1023
_Static_assert(UNWIND_LIMIT_DEFAULT == FRAMES_MASK_DEFAULT + 1, "room");

const volatile struct unwind_config unwind_config = {
#ifdef STRATA_HOST
	.max_frames = UNWIND_LIMIT_MAX, /* the caller made room for its limit */
	.frames_mask = ~0U,
#else
	.max_frames = UNWIND_LIMIT_DEFAULT,
	.frames_mask = FRAMES_MASK_DEFAULT,
#endif
};

/* By CPU and slot: SCRATCH_SLOTS * CPUs entries. Mmapable only to begin at a page:
 * the window in a struct walk is then aligned. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

/* Likewise; a struct stack_record with frames_mask + 1 frames. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stack_record) + 8 * (FRAMES_MASK_DEFAULT + 1));
} frames SEC(".maps");

struct walk_copy {
	__u64 head[sizeof(struct walk_record) / 8];
	__u64 stack[WALK_STACK_MAX / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct walk_copy);
} walk_copies SEC(".maps");

/* Ids of stacks that were sent. */
#define SEEN_BUCKETS 16384
SEEN_MAP(seen, SEEN_BUCKETS);

/* ---- registers --------------------------------------------------------- */

#ifdef STRATA_HOST
static int user_registers(struct walk *w); /* host_walk.c */
#else
#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
	__u64 orig_x0;
	__s32 syscall;
};
#else
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	__u64 orig_ax, ip;
	__u16 cs, pad[3]; /* only these bits are the segment, with FRED */
	__u64 flags, sp;
};
#endif

__global __u64 thread_pointer(void)
{
	__u32 offset = unwind_config.task_tp;
	__u64 tp = 0;

	if (offset)
		bpf_probe_read_kernel(&tp, 8, (void *)(bpf_get_current_task() + offset));
	return tp;
}

/* Sets the registers, and flags for which of them are known. 0, or why there is no
 * user stack. */
static __always_inline int user_registers(struct walk *w)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_arm64
	__u64 state = r->pstate;

	if (state & 15)
		return UNWIND_NO_USER + 1;
	if (state & 16)
		return UNWIND_COMPAT + 1;
	w->pc = r->pc;
	w->sp = r->sp;
	w->fp = r->regs[29];
	w->lr = r->regs[30];
	w->pc_mask = (1ULL << (unwind_config.address_bits & 63)) - 1;
	w->g = r->regs[28];
	w->regs[RULE_REG_X0] = r->regs[0];
	w->regs[RULE_REG_X1] = r->regs[1];
	w->regs[RULE_REG_R13] = r->regs[13];
#else
	__u16 cs = r->cs;

	if ((cs & 3) != 3)
		return UNWIND_NO_USER + 1;
	if (cs == 0x23)
		return UNWIND_COMPAT + 1;
	w->pc = r->ip;
	w->sp = r->sp;
	w->fp = r->bp;
	w->lr = 0;
	w->regs[RULE_REG_RAX] = r->ax;
	w->regs[RULE_REG_RDX] = r->dx;
	w->regs[RULE_REG_RCX] = r->cx;
	w->regs[RULE_REG_RBX] = r->bx;
	w->regs[RULE_REG_RSI] = r->si;
	w->regs[RULE_REG_RDI] = r->di;
	w->regs[RULE_REG_R8] = r->r8;
	w->regs[RULE_REG_R9] = r->r9;
	w->regs[RULE_REG_R10] = r->r10;
	w->regs[RULE_REG_R11] = r->r11;
	w->regs[RULE_REG_R12] = r->r12;
	w->regs[RULE_REG_R13] = r->r13;
	w->regs[RULE_REG_R14] = r->r14;
	w->regs[RULE_REG_R15] = r->r15;
#endif
	w->flags = WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR;
	return 0;
}
#endif

/* ---- uretprobes -------------------------------------------------------- */

struct return_search {
	__u64 entry; /* struct return_instance */
	__u64 stack, found;
};

static long match_return(__u32 i, void *data)
{
	struct return_search *s = data;
	__u64 stack = 0;

	if (!s->entry || bpf_probe_read_kernel(&stack, 8, (void *)s->entry + unwind_config.return_stack))
		return 1;
	if (stack == s->stack) {
		bpf_probe_read_kernel(&s->found, 8, (void *)s->entry + unwind_config.return_addr);
		return 1;
	}
	if (bpf_probe_read_kernel(&s->entry, 8, (void *)s->entry + unwind_config.return_next))
		return 1;
	return 0;
}

/* A uretprobe replaced the return address on the stack; the kernel keeps the real one,
 * by where it lay: just below sp, now that we have returned. Without it the walk ends
 * at the trampoline. */
__global int walk_uretprobe(struct walk *w)
{
	struct return_search s = {};
	__u64 utask = 0;

	if (!w || !unwind_config.task_utask)
		return 0;
	w->lookup = w->pc;
	if (!walk_mapping(w) && (w->map.flags & MAPPING_UPROBES)) {
		s.stack = WALK_ARM64(w) ? w->sp : w->sp - 8;
		if (!bpf_probe_read_kernel(&utask, 8,
			(void *)(bpf_get_current_task() + unwind_config.task_utask)))
			bpf_probe_read_kernel(&s.entry, 8, (void *)utask + unwind_config.utask_returns);
		bpf_loop(64, match_return, &s, 0);
		if (s.found)
			w->pc = s.found;
	}
	w->lookup = w->flags & WALK_EXACT ? w->pc : w->pc - 1;
	return 0;
}

/* ---- one frame --------------------------------------------------------- */

struct loop {
	struct walk *w;
	struct stack_record *out;
};

/* What is done time and again: a function each, below. */
enum {
	WALK_SOME,
	LANGUAGE_REST,
	LANGUAGE_MARKED,
};

/* Those that are only counted have one place, which nobody reads. Without a branch: the verifier
 * would follow both ways to the end. */
static __always_inline void store_frame(struct walk *w, struct stack_record *out, __u64 n, __u64 frame)
{
	n &= w->places;
	FORGET(n);
	out->frames[n & unwind_config.frames_mask] = frame;
}

static __always_inline int emit(struct walk *w, struct stack_record *out, __u64 frame)
{
	__u32 nr = w->nr, max = unwind_config.max_frames;

	if (nr >= w->limit)
		return UNWIND_LIMIT + 1;
	if (w->store) {
		if (nr >= max)
			return UNWIND_LIMIT + 1;
		out->frames[nr] = frame;
	}
	w->hash = STACK_HASH(w->hash, frame);
	w->nr = nr + 1;
	return 0;
}

static __always_inline int find_rule(struct walk *w)
{
	__u64 vaddr = w->lookup - w->map.bias, *e, v;
	int err;

	w->rule = 0;
	if (w->map.flags & MAPPING_V8) {
		w->rule = RULE_V8;
		return 0;
	}
	if (!w->map.file || (w->map.flags & (MAPPING_NO_TABLE | MAPPING_ANON)))
		return 0;
	e = cache_entry(w, vaddr);
	v = e ? *e : 0;
	if (v >> 24 == cache_tag(w->map.file, vaddr)) {
		w->rule = cache_unpack(v);
		w->in_loop = v & CACHE_IN_LOOP;
		return 0;
	}
	err = walk_rule(w);
	return err ? walk_unknown(w, err - 1) : 0;
}

/* Where the frame is: mapping and rule. */
static __always_inline int locate(struct walk *w)
{
	int err;

	w->in_loop = 0;
	w->lookup = w->flags & WALK_EXACT ? w->pc : w->pc - 1;
	if (w->lookup - w->map.start < w->map.end - w->map.start)
		return find_rule(w);
	/* The trampoline begins its page, so what is looked up lies before it. */
	if (!(w->pc & (PAGE - 1)))
		walk_uretprobe(w);
	err = walk_mapping(w);
	return err ? walk_unknown(w, err - 1) : find_rule(w);
}

/* A signal trampoline is exact: its first byte is returned to, but not from a call. */
static __always_inline __u64 native_frame(struct walk *w)
{
	__u64 at = (w->rule & 15) == RULE_SIGNAL ? w->pc : w->lookup;

	return FRAME_NATIVE(w->map.file, at - w->map.bias);
}

__global int emit_batch(struct walk *w, int n)
{
	struct stack_record *out;
	__u32 index, nr;
	__u64 hash;
	int err = 0;

	if (!w)
		return UNWIND_SCRATCH + 1;
	index = w->py.slot;
	nr = w->nr + n;
	if (!w->store && nr <= w->limit) { /* only their number matters */
		w->nr = nr;
		return 0;
	}
	out = bpf_map_lookup_elem(&frames, &index);
	if (!out)
		return UNWIND_SCRATCH + 1;
	nr = w->nr;
	hash = w->hash;
	for (int i = 0; i < PYTHON_BATCH; i++) {
		__u64 frame = w->py.batch[i];
		__u32 k = nr;

		if (i >= n)
			break;
		if (nr >= w->limit) {
			err = UNWIND_LIMIT + 1;
			break;
		}
		FORGET(k);
		store_frame(w, out, k, frame);
		hash = STACK_HASH(hash, frame);
		nr++;
	}
	w->nr = nr;
	w->hash = hash;
	return err;
}

static __always_inline int language_frame(struct walk *w, struct stack_record *out)
{
	__u64 frame = 0;
	int r = python_plain(&w->py);

	if (r > 0) {
		w->py_emitted = 1;
		return emit_batch(w, r);
	}
	r = python_step(&w->py, &frame);
	if (r > 0 && !frame)
		return 0;
	if (r > 0) {
		w->py_emitted = 1;
		return emit(w, out, frame);
	}
	w->py_in = 0;
	if (r < 0)
		w->trouble = UNWIND_LANGUAGE;
	return -1;
}

/* Whether the frame is Go's code: only the file's table says. */
static __always_inline int is_go(struct walk *w)
{
	if (!w->map.file || (w->table_file != w->map.file && walk_table(w)))
		return 0;
	return w->lookup - w->map.bias - w->table_base - w->table_go < w->table_go_size;
}

/* To the caller of an eval loop whose frames were emitted. At the edge of a call the
 * loop's C frame is there and the language's are not, or not any more: what was taken
 * for its frames is the caller's, and put back. */
__global int leave_loop(struct walk *w)
{
	__u64 sp, entry;
	int end;

	if (!w)
		return UNWIND_SCRATCH + 1;
	sp = w->sp;
	entry = w->py.entry;
	end = native_step(w);
	if (end || !entry || entry - sp < w->sp - sp || (w->flags & WALK_GUESSED))
		return end;
	w->nr = w->py_nr;
	w->hash = w->py_hash;
	w->py.frame = w->py_frame;
	w->py.newest = entry == w->py_newest ? entry : 0;
	w->trouble = w->py_trouble;
	w->py_emitted = 0;
	return 0;
}

__global int enter_loop(struct walk *w)
{
	if (!w)
		return 0;
	w->py.file = w->map.file;
	w->py.bias = w->map.bias;
	if (!w->py.begun) {
		if (python_begin(&w->py)) /* its state is not known yet: nothing stands in for the loop */
			w->trouble = UNWIND_LANGUAGE;
		else
			w->py_listed = !!w->py.frame;
	}
	/* An eval loop, and no more frames: those of an interpreter that runs this one are next.
	 * Where there is none, frames are missing; or, up to 3.9, where nothing says whose frames
	 * are whose, one stands in its caller's place somewhere before. */
	if (w->py_listed && !w->py.frame && python_outer(&w->py))
		w->trouble = UNWIND_UNATTACHED;
	w->py_in = 1;
	w->py_emitted = 0;
	w->py_nr = w->nr;
	w->py_hash = w->hash;
	w->py_frame = w->py.frame;
	w->py_newest = w->py.newest;
	w->py_trouble = w->trouble;
	return 0;
}

/* A process that userspace has not told of, and Python's file in it: from here on the
 * language's list is all that is wanted, as of one that is known. Without a state of the
 * thread the walk goes on: there may be no eval loop. */
static __always_inline int met_python(struct walk *w)
{
	if (w->want != WANT_PYTHON || w->py.file || !(w->map.flags & MAPPING_PYTHON))
		return 0;
	w->py.file = w->map.file;
	w->py.bias = w->map.bias;
	if (!python_begin(&w->py))
		return 1;
	w->py.begun = 0;
	return 0;
}

/* What native_step() wants to know of Go's frames on arm64. Asked for here, as little of the
 * 512 bytes that all calls share is in use. */
static __always_inline void walk_lr(struct walk *w)
{
	if (WALK_ARM64(w) && (w->rule & 15) == RULE_GO && (w->flags & WALK_LR))
		w->own = walk_own(w, strip(w, w->lr));
}

static __always_inline int one_frame(struct walk *w, struct stack_record *out)
{
	__u64 frame, js;
	int err, end;

	if (!w->py_in) {
		err = locate(w);
		if (err)
			return err;
		if (w->in_loop && (w->map.flags & MAPPING_PYTHON) && w->want != WANT_GO &&
			w->want != WANT_JS)
			enter_loop(w);
	}
	if (w->py_in) {
		err = language_frame(w, out);
		if (err >= 0)
			return err;
		frame = native_frame(w);
		end = leave_loop(w);
		err = w->py_emitted || w->want != WANT_ALL ? 0 : emit(w, out, frame);
		return err ? err : end;
	}
	if (met_python(w))
		return UNWIND_COMPLETE + 1;
	js = (w->rule & 15) == RULE_V8 && (w->want == WANT_ALL || w->want == WANT_JS) ?
		v8_function(w) : 0;
	if (js) {
		err = emit(w, out, js);
		if (err)
			return err;
	} else if (w->want == WANT_ALL || (w->want == WANT_GO && is_go(w))) {
		err = emit(w, out, native_frame(w));
		if (err)
			return err;
	}
	walk_lr(w);
	w->v8_on = (w->rule & 15) == RULE_V8;
	return native_step(w);
}

/* Most frames: in the mapping of the one before, by a plain rule from the cache, with
 * RA and fp in the window. What is anything else is left to one_frame(); so is what
 * would end the walk. The address of what is to be in the window, or 0. A function of its
 * own, for what it takes of the stack is not there for what one_frame() calls. */
__global __u64 plain_frames(struct walk *w)
{
	__u32 index, zero = 0;
	__u32 nr, file, gone = 0;
	__u64 lookup, fp, hash, at, wanted = 0;
	struct stack_record *out;
	struct rule_cache *cache;

	if (!w)
		return 0;
	index = w->py.slot;
	out = bpf_map_lookup_elem(&frames, &index);
	cache = bpf_map_lookup_elem(&rule_cache, &zero);
	if (!out || !cache)
		return 0;
	lookup = w->pc - !(w->flags & WALK_EXACT);
	fp = w->fp;
	hash = w->hash;
	at = w->sp - w->window_at; /* sp, as an offset in the window */
	nr = w->nr;
	file = w->map.file;
	for (int i = 0; i < PLAIN_FRAMES; i++) {
		__u64 vaddr = lookup - w->map.bias, frame = FRAME_NATIVE(file, vaddr), k, e, o, ra, by_fp;
		__s64 slot;

		if (lookup - w->map.start >= w->cached_span || nr >= w->limit)
			break;
		k = cache_index(file, vaddr);
		FORGET(k);
		e = cache->entry[k & (CACHE_ENTRIES - 1)];
		if (e >> 23 != (cache_tag(file, vaddr) << 1 | 1))
			break;
		by_fp = -(e & CACHE_BY_FP); /* no branch: the verifier would follow both ways to the end */
		o = at + ((fp - w->window_at - at) & by_fp) + (e & CACHE_OFFSET);
		if ((__s64)(o - at) <= 0 || (o & 7))
			break;
		slot = CACHE_SLOT(e);
		if (o - 8 > WINDOW_BYTES - 8) {
			wanted = w->window_at + o + (slot ? slot : -1) * 8;
			break;
		}
		ra = strip(w, window_word(w, o - 8));
		if (!ra)
			break;
		if (slot) {
			__u64 p = o + slot * 8;

			if (p > WINDOW_BYTES - 8) {
				wanted = w->window_at + p;
				break;
			}
			fp = window_word(w, p);
		}
		at = o;
		lookup = ra - 1;
		store_frame(w, out, nr++, frame);
		gone = WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED | WALK_BODY;
		hash = STACK_HASH(hash, frame);
	}
	/* Without a branch: what is known here is known for each way out of the loop. */
	w->flags &= ~gone;
	w->pc = lookup + !(w->flags & WALK_EXACT);
	w->sp = w->window_at + at;
	w->fp = fp;
	w->nr = nr;
	w->hash = hash;
	return wanted;
}

static long walk_some(__u32 i, void *data)
{
	struct loop *l = data;
	struct walk *w = l->w;
	__u64 wanted = 0;
	int end;

	if (w->v8_on && !(w->flags & WALK_EXACT))
		wanted = v8_plain(w);
	if (!wanted && !w->v8_on && !w->py_in && w->want == WANT_ALL)
		wanted = plain_frames(w);
	if (wanted && !(w->flags & WALK_NO_WINDOW)) {
		walk_refill(w, wanted, &w->rule);
		return 0;
	}
	end = one_frame(w, l->out);
	if (end)
		w->end = end;
	return !!end;
}

/* A frame of the language's list, with no regard to native frames: what is left of it
 * when the native walk has ended early, or all that is wanted. */
static long language_rest(__u32 i, void *data)
{
	struct loop *l = data;
	__u64 frame = 0;
	int r = python_plain(&l->w->py), err = 0;

	if (r > 0) {
		err = emit_batch(l->w, r);
		if (err)
			l->w->end = err;
		return !!err;
	}
	r = python_step(&l->w->py, &frame);
	if (r < 0)
		l->w->trouble = UNWIND_LANGUAGE;
	if (r > 0 && frame)
		err = emit(l->w, l->out, frame);
	if (err)
		l->w->end = err;
	return err || r < 0 || (!r && !l->w->py.frame && python_outer(&l->w->py));
}

/* A frame of what is sent along with a walk that userspace finishes. */
static long language_marked(__u32 i, void *data)
{
	struct loop *l = data;
	__u64 frame = 0;
	int r = python_step(&l->w->py, &frame);

	if (r > 0 && !frame)
		return 0;
	/* An address at the end of an activation is the mark. */
	if (r < 0 || emit(l->w, l->out, r ? frame : l->w->py.entry))
		return 1;
	return !r && !l->w->py.frame && python_outer(&l->w->py);
}

#ifdef PLAIN_LOOPS
/* One time round, for the verifier to look at once. */
__global int walk_round(struct walk *w, int what)
{
	struct loop l = {w};
	__u32 index;

	if (!w)
		return 1;
	index = w->py.slot;
	l.out = bpf_map_lookup_elem(&frames, &index);
	if (!l.out)
		return 1;
	switch (what) {
	case WALK_SOME:
		return walk_some(0, &l);
	case LANGUAGE_REST:
		return language_rest(0, &l);
	}
	return language_marked(0, &l);
}

static __always_inline void rounds(struct loop *l, __u32 n, int what)
{
	for (__u32 i = 0; i < LOOP_ROUNDS && i < n; i++)
		if (walk_round(l->w, what))
			break;
}
#else
static __always_inline void rounds(struct loop *l, __u32 n, int what)
{
	switch (what) {
	case WALK_SOME:
		bpf_loop(n, walk_some, l, 0);
		break;
	case LANGUAGE_REST:
		bpf_loop(n, language_rest, l, 0);
		break;
	case LANGUAGE_MARKED:
		bpf_loop(n, language_marked, l, 0);
	}
}
#endif

/* ---- to userspace ------------------------------------------------------ */

struct copy {
	struct walk_copy *c;
	__u64 sp;
};

#define COPY_STEP 1024

static long copy_piece(__u32 i, void *data)
{
	struct copy *c = data;
	__u64 at = (__u64)i * COPY_STEP;

	if (at > WALK_STACK_MAX - COPY_STEP)
		return 1;
	/* Words: the array is indexed in u64. */
	if (bpf_probe_read_user(&c->c->stack[at >> 3], COPY_STEP, (void *)c->sp + at))
		return 1;
	return 0;
}

/* Down to the last page of the stack's mapping it goes by COPY_STEP, so the rest of
 * that page is tried by its exact size. */
static __always_inline __u32 copy_stack(struct walk_copy *c, __u64 sp)
{
	struct copy copy = {c, sp};
	long n = bpf_loop(WALK_STACK_MAX / COPY_STEP, copy_piece, &copy, 0);
	__u64 size, rest;

	if (n < 1 || n > WALK_STACK_MAX / COPY_STEP)
		return 0;
	/* bpf_loop counts the call that stopped it; that one may have copied. */
	size = (__u64)n * COPY_STEP;
	if (n == WALK_STACK_MAX / COPY_STEP &&
		bpf_probe_read_user(&c->stack[(WALK_STACK_MAX - COPY_STEP) / 8], COPY_STEP,
			(void *)sp + WALK_STACK_MAX - COPY_STEP) == 0)
		return size;
	size -= COPY_STEP;
	rest = -(sp + size) & (PAGE - 1);
	if (rest > COPY_STEP)
		rest = COPY_STEP;
	FORGET(size);
	size &= WALK_STACK_MAX - 1;
	if (size > WALK_STACK_MAX - COPY_STEP)
		return 0;
	if (bpf_probe_read_user((void *)c->stack + size, rest, (void *)sp + size))
		rest = 0;
	return size + rest;
}

/* The walk's beginning, for userspace to finish it. Its id, or 0: not sent. */
__global __u64 walk_ask(struct walk *w, __u32 index, __u64 language)
{
	struct walk_copy *c = bpf_map_lookup_elem(&walk_copies, &index);
	struct walk_record *h;
	__u64 ids = current_ids(), id;
	__u32 size;

	if (!c || !w)
		return 0;
	h = (struct walk_record *)c->head;
	h->head.kind = RECORD_WALK;
	h->language = language;
	h->head.id = 0;
	h->pid = ids >> 32;
	h->tid = ids;
	h->want = w->want;
	h->limit = w->limit;
	h->pc = w->first.pc;
	h->sp = w->first.sp;
	h->fp = w->first.fp;
	h->lr = w->first.lr;
	h->tp = thread_pointer();
	h->time = bpf_ktime_get_ns();
	h->end = w->end - 1;
	id = STACK_HASH(STACK_HASH(STACK_HASH_SEED, ids), h->time) ^ (__u64)index << 32;
	h->id = id | STACK_PROVISIONAL;
	size = copy_stack(c, h->sp);
	if (size > WALK_STACK_MAX)
		size = WALK_STACK_MAX;
	h->size = size;
	size += sizeof(*h);
	walk_asked(w, size); /* lost ones, too */
	return ring_output(c, size) ? 0 : h->id;
}

/* A walk that only counts has no id to be mended; the next one will know more. */
__global int tell_miss(struct walk *w)
{
	struct miss_record m = {.head = {.kind = RECORD_MISS}};

	if (!w)
		return 0;
	m.pid = w->pid;
	m.pc = w->lookup;
	m.time = bpf_ktime_get_ns();
	walk_asked(w, sizeof(m));
	ring_output(&m, sizeof(m));
	return 0;
}

static __always_inline void first_sight(struct walk *w, struct stack_record *out, __u64 id)
{
	__u32 nr = w->nr, max = unwind_config.max_frames;
	struct seen_bucket *b = seen_bucket(&seen, SEEN_BUCKETS, id);

	if (seen_has(b, id))
		return;
	if (nr > max)
		nr = max;
	out->head.kind = RECORD_STACK;
	out->head.id = 0;
	out->id = id;
	out->nr = nr;
	out->end = w->end - 1;
	if (ring_output(out, sizeof(*out) + 8ULL * nr))
		count_lost(LOST_STACK);
	else
		seen_add(b, id);
}

/* ---- the whole --------------------------------------------------------- */

/* A fresh state: the window, signal[] and the table's head may stay as they are. */
static __always_inline void start(struct walk *w, struct stack_req *r, __u32 index)
{
	__u64 ids = current_ids();

	w->window_at = WINDOW_NONE;
	w->switches = 0;
	w->tid = ids;
	w->pid = ids >> 32;
	w->map.start = w->map.end = 0;
	w->before.start = w->before.end = 0;
	w->cached_span = 0;
	w->table_file = 0;
	w->hash = STACK_HASH_SEED;
	w->nr = 0;
	w->limit = r->limit > UNWIND_LIMIT_MAX ? UNWIND_LIMIT_MAX : r->limit;
	w->want = r->want;
	w->store = !r->len_only;
	w->places = -w->store;
	if (w->store && w->limit > unwind_config.max_frames)
		w->limit = unwind_config.max_frames;
	w->end = w->trouble = 0;
	w->py_emitted = w->py_in = w->py_listed = 0;
	w->v8_walk = w->v8_on = w->v8_budget = 0;
	w->v8_asked = 0;
	__builtin_memset(&w->py, 0, sizeof(w->py));
	w->py.pid = w->pid;
	w->py.slot = index;
	w->first.pc = w->pc;
	w->first.sp = w->sp;
	w->first.fp = w->fp;
	w->first.lr = w->lr;
}

/* The language's list is all that is wanted: no table is needed for it. A process that
 * has none is one without the language; or it, or all of it, is not known yet, which is -1: a
 * walk then finds the file that has the language, and what that says. */
static __always_inline int run_language(struct walk *w, struct loop *l)
{
	if (python_begin(&w->py)) {
		w->lookup = w->pc;
		if (walk_told(w) || walk_is_stale(w)) {
			w->py.begun = 0;
			return -1;
		}
		/* arm64: a thread that was not switched since its exec may have a state. */
		w->end = (WALK_ARM64(w) && w->py.begun == 2 && !w->py.tp ? UNWIND_LANGUAGE : UNWIND_COMPLETE) + 1;
		return 0;
	}
	rounds(l, 2 * UNWIND_LIMIT_MAX, LANGUAGE_REST);
	if (!w->end)
		w->end = (w->trouble ? w->trouble : w->py.frame ? UNWIND_LIMIT : UNWIND_COMPLETE) + 1;
	return 0;
}

/* Frames that no eval loop was met for; of what stands in for C none are shown (3.15's list
 * ends in one). Where Python's are all that is wanted, they are all there is. */
static __always_inline void language_tail(struct walk *w, struct loop *l)
{
	__u32 nr = w->nr;

	rounds(l, 2 * UNWIND_LIMIT_MAX, LANGUAGE_REST);
	if (w->want == WANT_PYTHON)
		w->end = w->py.frame ? UNWIND_LIMIT + 1 : w->end;
	else if (!w->trouble && w->nr != nr)
		w->trouble = UNWIND_UNATTACHED;
}

static __always_inline int has_tail(struct walk *w)
{
	if (w->py.begun)
		return !!w->py.frame;
	return w->want == WANT_ALL && w->end != UNWIND_COMPLETE + 1 && !python_begin(&w->py);
}

static __always_inline void run(struct walk *w, struct stack_record *out)
{
	struct loop l = {w, out};
	/* Of one language the limit counts none but its own: many others may come before them. */
	__u32 most = 4 * (w->want == WANT_ALL ? w->limit : UNWIND_LIMIT_MAX) + 1;

	if (w->want == WANT_PYTHON && !run_language(w, &l))
		return;
	if ((w->want == WANT_GO && !walk_may_have(w, 1 << FRAME_LANG_GO)) ||
		(w->want == WANT_JS && !walk_may_have(w, 1 << FRAME_LANG_JS))) {
		w->end = UNWIND_COMPLETE + 1;
		return;
	}
	/* An activation takes a step of its own, and so may a window, and frames that
	 * are put back. */
	rounds(&l, most, WALK_SOME);
	if (!w->end)
		w->end = UNWIND_LIMIT + 1;
	if ((w->flags & WALK_ASK) || w->end == UNWIND_LIMIT + 1)
		return;
	if (has_tail(w))
		language_tail(w, &l);
	if (w->end == UNWIND_COMPLETE + 1 && w->trouble)
		w->end = w->trouble + 1;
}

static __always_inline __u64 stack_id(struct walk *w)
{
	__u64 id = STACK_HASH(w->hash, w->end - 1ULL) & ~STACK_PROVISIONAL;

	return w->nr || w->end != UNWIND_COMPLETE + 1 ? id ? id : 1 : 0;
}

/* The language's frames go along with a walk that is to be finished in userspace. */
static __always_inline __u64 send_language(struct walk *w, struct stack_record *out)
{
	struct loop l = {w, out};
	__u32 limit = w->limit;
	__u64 id;

	if (w->want != WANT_ALL || python_begin(&w->py))
		return 0;
	w->py.ended = 0;
	w->hash = STACK_HASH_SEED;
	w->nr = 0;
	w->limit = UNWIND_LIMIT_MAX;
	rounds(&l, 2 * UNWIND_LIMIT_MAX, LANGUAGE_MARKED);
	w->limit = limit;
	id = stack_id(w);
	if (id)
		first_sight(w, out, id);
	return id;
}

/* execve, execveat: of the kernel's asm/unistd.h */
static __always_inline int in_exec(void)
{
#ifdef STRATA_HOST
	return 0;
#else
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_arm64
	return r->syscall == 221 || r->syscall == 281;
#else
	return r->orig_ax == 59 || r->orig_ax == 322;
#endif
#endif
}

/* A thread that exits keeps its registers longer than its memory; one that runs another
 * program has that one's memory before its registers. */
static __always_inline int memory_has_gone(struct walk *w)
{
	__u64 mm = 1;

	if (in_exec()) /* until then its own is there */
		return !!bpf_probe_read_user(&mm, 8, (void *)w->first.sp);
	if (unwind_config.task_mm)
		bpf_probe_read_kernel(&mm, 8, (void *)(bpf_get_current_task() + unwind_config.task_mm));
	return !mm;
}

__global int stack_user(struct stack_req *r)
{
	struct stack_record *out;
	struct walk *w;
	__u32 index;
	int err;

	if (!r)
		return -1;
	r->id = 0;
	r->nr = 0;
	r->end = UNWIND_SCRATCH;
	index = bpf_get_smp_processor_id() * SCRATCH_SLOTS + (r->slot & (SCRATCH_SLOTS - 1));
	w = bpf_map_lookup_elem(&walks, &index);
	out = bpf_map_lookup_elem(&frames, &index);
	if (!w || !out)
		return -1;
	err = user_registers(w);
	if (err) {
		r->end = err - 1;
		if (r->end != UNWIND_NO_USER)
			r->id = STACK_EMPTY(r->end);
		return 0;
	}
	start(w, r, index);
	if (is_outside(w->pid)) {
		r->end = UNWIND_OUTSIDE;
		r->id = STACK_EMPTY(UNWIND_OUTSIDE);
		return 0;
	}
	run(w, out);
	if ((w->end == UNWIND_UNREADABLE + 1 || (w->flags & WALK_ASK)) && memory_has_gone(w)) {
		r->end = UNWIND_NO_USER;
		return 0;
	}
	r->nr = w->nr;
	r->end = w->end - 1;
	if ((w->flags & WALK_ASK) && w->store) {
		r->id = walk_ask(w, index, send_language(w, out));
		if (!r->id) {
			count_lost(LOST_STACK);
			r->id = STACK_EMPTY(UNWIND_LOST);
		}
		return 0;
	}
	if (w->flags & WALK_ASK)
		tell_miss(w);
	r->id = stack_id(w);
	if (w->store && w->nr)
		first_sight(w, out, r->id);
	return 0;
}
