// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* walk.bpf.c - the walk: from the thread's registers to a stack's id.
 *
 * One bpf_loop iteration is one frame. The frames of a language replace the frame of its interpreter's loop.
 * The id is folded frame by frame; a stack is sent when its id is seen for the first time, and only a stack
 * that was sent counts as seen. */
#include "bpf/lib/seen.bpf.h"
#include "again.bpf.h"
#include "lang.bpf.h"
#include "lookup.bpf.h"
#include "probed.bpf.h"
#include "start.bpf.h"
#include "step.bpf.h"

#define FAST_FRAMES 8

const volatile struct unwind_config unwind_config = {
#ifdef STRATA_HOST
	.max_frames = UNWIND_LIMIT_MAX, /* the caller has allocated memory for its limit */
	.frames_mask = ~0U,
#else
	.max_frames = UNWIND_LIMIT_DEFAULT,
	.frames_mask = FRAMES_MASK_DEFAULT,
#endif
	.loaded = LANGS_ALL,
};

/* Ids of stacks that were sent. */
#define SEEN_BUCKETS 16384
SEEN_MAP(seen, SEEN_BUCKETS);

/* ---- the thread ----------------------------------------------------------- */

#ifndef STRATA_HOST
__global __u64 thread_pointer(void)
{
	__u32 offset = unwind_config.task_tp;
	__u64 tp = 0;

	if (offset)
		bpf_probe_read_kernel(&tp, 8, (void *)(bpf_get_current_task() + offset));
	return tp;
}
#endif

/* ---- one frame --------------------------------------------------------- */

struct loop {
	struct walk *w;
	struct stack_record *out;
};

/* Kinds of rounds: a function each, below. */
enum {
	WALK_SOME,
	LIST_REST,
	LIST_MARKED,
};

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

/* Anonymous code: a language's compiled code, or unknown. */
static __always_inline int compiled_rule(struct walk *w)
{
	if (w->map.flags & MAPPING_LANGS(LANGS_FRAME))
		w->rule = RULE_LANG;
	else if (w->map.flags & MAPPING_LANGS(LANGS_LIST))
		w->in_loop = !!(w->rule = list_compiled(w));
	return 0;
}

/* Returns 0 on success, enum unwind_end + 1 on failure. */
static __always_inline int find_rule(struct walk *w)
{
	__u64 vaddr = w->lookup - w->map.bias, v;

	w->rule = 0;
	if (w->map.flags & MAPPING_ANON)
		return compiled_rule(w);
	if (!w->map.file || (w->map.flags & MAPPING_NO_TABLE))
		return 0;
	v = w->cached_span ? cached_rule(w->map.file, vaddr) : 0;
	if (v) {
		w->rule = cache_unpack(v);
		w->in_loop = v & CACHE_IN_LOOP;
		return 0;
	}
	return walk_rule(w);
}

/* Finds the frame's mapping and rule. */
static __always_inline int locate(struct walk *w)
{
	int err = 0;

	w->in_loop = 0;
	w->lookup = w->flags & WALK_EXACT ? w->pc : w->pc - 1;
	if (w->lookup - w->map.start >= w->map.end - w->map.start) {
		/* The trampoline begins its page, so the lookup address is before it. */
		if (!(w->pc & (PAGE - 1)))
			walk_uretprobe(w);
		err = walk_mapping(w);
	}
	if (!err)
		err = find_rule(w);
	if (!err && lang_step_is_missing(w))
		err = UNWIND_LANG_LATE + 1;
	return err ? walk_unknown(w, err - 1) : 0;
}

/* A signal trampoline is exact: the handler returns to its first byte, but no call precedes that. */
static __always_inline __u64 native_frame(struct walk *w)
{
	__u64 at = RULE_KIND(w->rule) == RULE_SIGNAL ? w->pc : w->lookup;

	return w->map.file ? FRAME_NATIVE(w->map.file, at - w->map.bias) : FRAME_OF(FRAME_LANG_ADDRESS, at);
}

__global int emit_batch(struct walk *w, int n)
{
	struct stack_record *out;
	__u32 index, nr;
	__u64 hash;
	int err = 0;

	if (!w)
		return UNWIND_SCRATCH + 1;
	index = w->slot;
	nr = w->nr + n;
	if (!w->store && nr <= w->limit) { /* only their number is needed */
		w->nr = nr;
		return 0;
	}
	out = bpf_map_lookup_elem(&frames, &index);
	if (!out)
		return UNWIND_SCRATCH + 1;
	nr = w->nr;
	hash = w->hash;
	for (int i = 0; i < LIST_BATCH; i++) {
		__u64 frame = w->list.batch[i];
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

static __always_inline int list_frame(struct walk *w, struct stack_record *out)
{
	__u64 frame = 0;
	int r = list_batch(w);

	if (r > 0) {
		w->list_emitted = 1;
		return emit_batch(w, r);
	}
	r = list_next(w, &frame);
	if (r > 0 && !frame)
		return 0;
	if (r > 0) {
		w->list_emitted = 1;
		return emit(w, out, frame);
	}
	w->list_in = 0;
	if (r < 0)
		w->cause = UNWIND_LANGUAGE;
	return -1;
}

/* Steps to the caller of an interpreter's loop whose frames were emitted. At the edge of a call the loop's C frame
 * may exist without the language's frames. The frames taken for its own are then the caller's, and are put back. */
__global int leave_loop(struct walk *w)
{
	__u64 sp, entry;
	int end;

	if (!w)
		return UNWIND_SCRATCH + 1;
	sp = w->sp;
	entry = w->list.entry;
	end = walk_step(w);
	if (end || !entry || entry - sp < w->sp - sp || (w->flags & WALK_GUESSED))
		return end;
	w->nr = w->list_nr;
	w->hash = w->list_hash;
	w->list.frame = w->list_frame;
	w->list.newest = entry == w->list_newest ? entry : 0;
	w->cause = w->list_cause;
	w->list_emitted = 0;
	return 0;
}

__global int enter_loop(struct walk *w)
{
	if (!w)
		return 0;
	if (!(w->map.flags & MAPPING_ANON)) {
		w->list.file = w->map.file;
		w->list.bias = w->map.bias;
	}
	if (!w->list.begun) {
		if (list_begin(w)) /* its state is unknown: no frames replace the loop */
			w->cause = w->flags & WALK_LATE ? UNWIND_LANG_LATE : UNWIND_LANGUAGE;
		else
			w->list_any = !!w->list.frame;
	}
	/* The list of an interpreter's loop has ended: the frames of the interpreter that runs this one are
	 * next. If there is none, frames are missing, or a frame of the caller was taken for this loop's
	 * (Python up to 3.9 does not say which loop runs a frame). */
	if (w->list_any && !w->list.frame && list_outer(w))
		w->cause = UNWIND_UNATTACHED;
	w->list_in = 1;
	w->list_emitted = 0;
	w->list_nr = w->nr;
	w->list_hash = w->hash;
	w->list_frame = w->list.frame;
	w->list_newest = w->list.newest;
	w->list_cause = w->cause;
	return 0;
}

/* Returns whether the frame is in a loop whose frames are wanted. A walk follows only one list: the loop of another
 * language within it remains native, and the stack is marked. */
static __always_inline int is_loop(struct walk *w)
{
	__u32 lang = list_of_mapping(w);

	if (!lang || (w->filter && !(w->filter & 1U << lang)))
		return 0;
	if (lang_is_missing(lang))
		return (int)lang_lacks(w);
	if (w->list.lang && w->list.lang != lang) {
		w->cause = UNWIND_UNATTACHED;
		return 0;
	}
	w->list.lang = lang;
	return 1;
}

/* Returns whether the walk has found a file of the language in a process that userspace has not published. From then
 * on only the language's list is needed, as in a known process. If the thread has no state, the walk
 * continues: there may be no interpreter's loop. */
static __always_inline int found_list(struct walk *w)
{
	if (!(w->filter & LANGS_LIST) || w->list.begun || w->list.file ||
		!(w->map.flags & MAPPING_LANGS(w->filter & LANGS_LIST)))
		return 0;
	w->list.lang = list_of_mapping(w);
	w->list.file = w->map.file;
	w->list.bias = w->map.bias;
	if (!list_begin(w) && !(w->list.begun & LIST_IN_LOOPS))
		return 1;
	w->list.begun = 0;
	return 0;
}

/* Finds the function of LR for walk_step(), on arm64, if a row is a whole function. This is done here because
 * little of the 512 bytes of stack that all calls share is in use. */
static __always_inline void walk_lr(struct walk *w)
{
	if (WALK_ARM64(w) && RULE_KIND(w->rule) >= RULE_OWN && (w->flags & WALK_LR))
		w->own = walk_own(w, strip(w, w->lr));
}

static __always_inline int one_frame(struct walk *w, struct stack_record *out)
{
	__u64 frame, by_lang;
	int err, end;

	if (!w->list_in) {
		err = locate(w);
		if (err)
			return err;
		if (w->in_loop && is_loop(w))
			enter_loop(w);
	}
	if (w->list_in) {
		err = list_frame(w, out);
		if (err >= 0)
			return err;
		frame = native_frame(w);
		end = leave_loop(w);
		err = w->list_emitted || w->filter ? 0 : emit(w, out, frame);
		return err ? err : end;
	}
	if (found_list(w))
		return UNWIND_COMPLETE + 1;
	by_lang = RULE_KIND(w->rule) == RULE_LANG ? lang_frame(w) : 0;
	if (by_lang) {
		err = emit(w, out, by_lang);
		if (err)
			return err;
	} else if (!w->filter || (w->filter & LANGS_NATIVE && in_native_code(w))) {
		err = emit(w, out, native_frame(w));
		if (err)
			return err;
	}
	if (RULE_KIND(w->rule) == RULE_END)
		return UNWIND_COMPLETE + 1;
	walk_lr(w);
	w->frame_lang = RULE_KIND(w->rule) == RULE_LANG ? frame_lang_of(w->map.flags) : 0;
	return walk_step(w);
}

/* The fast way for most frames: up to FAST_FRAMES steps with the walk's state in registers. Memory is read
 * only in the window, and rules only in the memo and the cache.
 *
 * A step is done here if the frame is in the same mapping as the last one; if the cache has its rule, and the
 * rule is a CFA counted from sp or fp and at most a slot for fp, with RA at CFA - 8; and if both words are in the
 * window. All addresses are offsets in the window: `at` is sp, `o` is the CFA, which must be above sp. Anything
 * else ends the loop: another kind of rule, an interpreter's loop, the end of the stack or of the limit.
 * one_frame() then makes that step. If only the window is missing, returns the address that it must have, else 0.
 *
 * Choices between values are masks, not branches: the verifier would follow each branch to the end of all
 * rounds. This is a function because its stack is then free again for the functions that one_frame() calls. */
__global __u64 fast_frames(struct walk *w)
{
	__u32 index, nr, file, gone = 0;
	__u64 lookup, fp, hash, at, wanted = 0;
	struct stack_record *out;
	struct walk_memory *memory;

	if (!w)
		return 0;
	index = w->slot;
	out = bpf_map_lookup_elem(&frames, &index);
	memory = bpf_map_lookup_elem(&walks, &index);
	if (!out || !memory)
		return 0;
	lookup = w->pc - !(w->flags & WALK_EXACT);
	fp = w->fp;
	hash = w->hash;
	at = w->sp - w->window_at; /* sp, as an offset in the window */
	nr = w->nr;
	file = w->map.file;
	for (int i = 0; i < FAST_FRAMES; i++) {
		__u64 vaddr = lookup - w->map.bias, frame = FRAME_NATIVE(file, vaddr), e, o, p, ra, by_fp, has_slot;
		__u64 k = (w->window_at + at) >> MEMO_SHIFT;
		struct rule_memo *m;

		if (lookup - w->map.start >= w->cached_span || nr >= w->limit)
			break;
		FORGET(k);
		m = &memory->memo[k & (MEMO_ENTRIES - 1)];
		e = m->rule;
		if (m->key != ((__u64)file << 32 | vaddr)) {
			e = cached_rule(file, vaddr);
			if (!(e & CACHE_FAST))
				break;
			m->key = (__u64)file << 32 | vaddr;
			m->rule = e;
		}
		by_fp = -(e & CACHE_BY_FP); /* no branch: the verifier would follow both ways to the end */
		o = at + ((fp - w->window_at - at) & by_fp) + (e & CACHE_OFFSET);
		if ((__s64)(o - at) <= 0 || (o & 7))
			break;
		has_slot = is_set(CACHE_SLOT(e));
		/* Without a slot for fp, RA's word stands for it. */
		p = o - 8 + (((CACHE_SLOT(e) + 1) * 8) & -has_slot);
		if (o - 8 > WINDOW_BYTES - 8 || p > WINDOW_BYTES - 8) {
			wanted = w->window_at + p;
			break;
		}
		ra = strip(w, window_word(w, o - 8));
		if (!ra)
			break;
		fp ^= (fp ^ window_word(w, p)) & -has_slot;
		at = o;
		lookup = ra - 1;
		store_frame(w, out, nr++, frame);
		gone = WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED | WALK_BODY;
		hash = STACK_HASH(hash, frame);
	}
	/* There is no branch, so that the verifier knows the same about each way out of the loop. */
	w->flags &= ~gone;
	w->pc = lookup + !(w->flags & WALK_EXACT);
	w->sp = w->window_at + at;
	w->fp = fp;
	w->nr = nr;
	w->hash = hash;
	return wanted;
}

/* Returns to the mapping before, as walk_mapping() does, if the frame is in it. A trampoline of a uretprobe may be: it
 * begins its page. */
static __always_inline int return_to_before(struct walk *w)
{
	__u64 lookup = w->pc - !(w->flags & WALK_EXACT);
	struct mapping m = w->before;

	if (lookup - m.start >= m.end - m.start || lookup - w->map.start < w->map.end - w->map.start ||
		!(w->pc & (PAGE - 1)))
		return 0;
	w->before = w->map;
	w->map = m;
	set_span(w);
	return 1;
}

static long walk_some(__u32 i, void *data)
{
	struct loop *l = data;
	struct walk *w = l->w;
	__u64 wanted = 0;
	int end;

	if (w->frame_lang && !(w->flags & WALK_EXACT)) {
		wanted = lang_frames(w);
		if (wanted == LANG_MORE)
			return 0;
	}
	if (!unwind_config.languages && !wanted && !w->frame_lang && !w->list_in && !w->filter)
		wanted = fast_frames(w);
	if (wanted && !(w->flags & WALK_NO_WINDOW)) {
		walk_refill(w, wanted, &w->rule);
		return 0;
	}
	if (!w->list_in && return_to_before(w))
		return 0;
	end = one_frame(w, l->out);
	if (end == UNWIND_COMPLETE + 1 && !w->frame_begun)
		end = lang_above(w);
	if (end == UNWIND_COMPLETE + 1 && w->list.begun && !walk_again(w))
		return 0;
	if (end)
		w->end = end;
	return !!end;
}

/* Takes a frame of the language's list, ignoring native frames: the rest of the list after the native walk
 * has ended early, or the whole list if nothing else is wanted. */
static long list_rest(__u32 i, void *data)
{
	struct loop *l = data;
	__u64 frame = 0;
	int r = list_batch(l->w), err = 0;

	if (r > 0) {
		err = emit_batch(l->w, r);
		if (err)
			l->w->end = err;
		return !!err;
	}
	r = list_next(l->w, &frame);
	if (r < 0)
		l->w->cause = UNWIND_LANGUAGE;
	if (r > 0 && frame)
		err = emit(l->w, l->out, frame);
	if (err)
		l->w->end = err;
	return err || r < 0 || (!r && !l->w->list.frame && list_outer(l->w));
}

/* Takes a frame of the list that is sent with a walk that userspace finishes. */
static long list_marked(__u32 i, void *data)
{
	struct loop *l = data;
	__u64 frame = 0;
	int r = list_next(l->w, &frame);

	if (r > 0 && !frame)
		return 0;
	/* An address at the end of an activation is the mark. */
	if (r < 0 || emit(l->w, l->out, r ? frame : l->w->list.entry))
		return 1;
	return !r && !l->w->list.frame && list_outer(l->w);
}

#ifdef NO_BPF_LOOP
/* One round, in a function so that the verifier checks it once. */
__global int walk_round(struct walk *w, int what)
{
	struct loop l = {w};
	__u32 index;

	if (!w)
		return 1;
	index = w->slot;
	l.out = bpf_map_lookup_elem(&frames, &index);
	if (!l.out)
		return 1;
	switch (what) {
	case WALK_SOME:
		return walk_some(0, &l);
	case LIST_REST:
		return list_rest(0, &l);
	}
	return list_marked(0, &l);
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
	case LIST_REST:
		bpf_loop(n, list_rest, l, 0);
		break;
	case LIST_MARKED:
		bpf_loop(n, list_marked, l, 0);
	}
}
#endif

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

/* Returns the one LANG_LIST language of a filter that wants nothing else, or 0 if there is none. */
static __always_inline __u32 list_of_filter(__u32 filter)
{
#define LIST_IS(id)   if (filter == 1U << FRAME_LANG_##id) return FRAME_LANG_##id;
#define NATIVE_IS(id)
#define FRAME_IS(id)
#define L(id, stem, builtin, kind, name) kind##_IS(id)
#include "bpf/languages.def"
#undef L
	return 0;
}

/* Walks when only the language's list is wanted, which needs no table. Returns -1 if the list is found only in frames
 * of loops, or if the process has no list yet and its language is not known for certain: the walk then looks for the
 * file that has the language. A known process without a list does not run the language. */
static __always_inline int run_list(struct walk *w, struct loop *l)
{
	int none;

	w->list.lang = list_of_filter(w->filter);
	none = list_begin(w);
	if (w->list.begun & LIST_IN_LOOPS) {
		w->list.lang = w->list.begun = 0;
		return -1;
	}
	if (none) {
		w->lookup = w->pc;
		if (walk_published(w) || walk_is_stale(w)) {
			w->list.lang = w->list.begun = 0;
			return -1;
		}
		/* arm64: a thread that was not switched since its exec may have a state. */
		w->end = (WALK_ARM64(w) && w->list.begun == LIST_HAS_LANG && !w->tp ? UNWIND_LANGUAGE :
			UNWIND_COMPLETE) + 1;
		if (lang_is_missing(w->list.lang) && walk_languages(w) & w->filter)
			w->end = UNWIND_LANG_LATE + 1;
		return 0;
	}
	rounds(l, 2 * UNWIND_LIMIT_MAX, LIST_REST);
	if (!w->end)
		w->end = (w->cause ? w->cause : w->list.frame ? UNWIND_LIMIT : UNWIND_COMPLETE) + 1;
	return 0;
}

/* Takes frames for which no interpreter's loop was found. Stand-ins for C are not shown (3.15's list ends
 * with one), or need no loop (a fiber of Ruby may begin in C). If only the list is wanted, these are all frames. */
static __always_inline void list_tail(struct walk *w, struct loop *l)
{
	__u32 nr = w->nr;

	w->list.in_c = 0;
	rounds(l, 2 * UNWIND_LIMIT_MAX, LIST_REST);
	if (w->filter & LANGS_LIST)
		w->end = w->list.frame ? UNWIND_LIMIT + 1 : w->end;
	else if (!w->cause && w->nr - nr != w->list.in_c)
		w->cause = UNWIND_UNATTACHED;
}

static __always_inline int has_tail(struct walk *w)
{
	if (w->list.begun)
		return w->list.frame || w->list.begun & LIST_IN_LOOPS;
	return !w->filter && w->end != UNWIND_COMPLETE + 1 && !list_begin_any(w);
}

/* A walk by frame pointer through unknown code may end anywhere. */
static __always_inline int is_unknown(__u32 cause)
{
	return cause == UNWIND_NO_PROCESS || cause == UNWIND_NO_MAPPING || cause == UNWIND_TABLE_LATE;
}

static __always_inline void run(struct walk *w, struct stack_record *out)
{
	struct loop l = {w, out};
	/* With a filter, the limit counts only the language's frames: many others may come before them. */
	__u32 most = 4 * (w->filter ? UNWIND_LIMIT_MAX : w->limit) + 1;

	if (list_of_filter(w->filter) && !run_list(w, &l))
		return;
	if (w->filter && !(w->filter & LANGS_LIST) && !walk_may_have(w, w->filter)) {
		w->end = UNWIND_COMPLETE + 1;
		return;
	}
	/* An activation, a new window, and frames that are put back take a round each. */
	rounds(&l, most, WALK_SOME);
	if (!w->end)
		w->end = UNWIND_LIMIT + 1;
	if ((w->flags & WALK_ASK) || w->end == UNWIND_LIMIT + 1)
		return;
	if (has_tail(w))
		list_tail(w, &l);
	if (w->cause && (w->end == UNWIND_COMPLETE + 1 || (w->end != UNWIND_LIMIT + 1 && is_unknown(w->cause))))
		w->end = w->cause + 1;
}

static __always_inline __u64 stack_id(struct walk *w)
{
	__u64 id = STACK_HASH(w->hash, w->end - 1ULL) & ~STACK_PROVISIONAL;

	return w->nr || w->end != UNWIND_COMPLETE + 1 ? id ? id : 1 : 0;
}

/* Sends the language's frames together with a walk that userspace finishes. */
static __always_inline __u64 send_list(struct walk *w, struct stack_record *out)
{
	struct loop l = {w, out};
	__u32 limit = w->limit;
	__u64 id;

	if (w->filter || list_begin_any(w) || w->list.begun & LIST_IN_LOOPS)
		return 0;
	w->list.ended = 0;
	w->hash = STACK_HASH_SEED;
	w->nr = 0;
	w->limit = UNWIND_LIMIT_MAX;
	rounds(&l, 2 * UNWIND_LIMIT_MAX, LIST_MARKED);
	w->limit = limit;
	id = stack_id(w);
	if (id)
		first_sight(w, out, id);
	return id;
}

/* Reads the window of the stack. fast_frames() can then make the first step. Otherwise one_frame() makes it, whose code
 * the CPU would have to load. */
static __always_inline void prefill(struct walk *w)
{
	walk_refill(w, w->sp, &w->rule);
	w->flags &= ~WALK_NO_WINDOW;
}

__global int stack_user(struct stack_req *r)
{
	struct stack_record *out;
	struct walk *w;
	__u32 index;
	int err, kept;

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
	w->pc -= r->back;
	kept = start(w, r, index);
	if (is_outside(w->pid)) {
		r->end = UNWIND_OUTSIDE;
		r->id = STACK_EMPTY(UNWIND_OUTSIDE);
		return 0;
	}
	if (kept && !w->filter)
		prefill(w);
	run(w, out);
	if ((w->end == UNWIND_UNREADABLE + 1 || (w->flags & WALK_ASK)) && memory_has_gone(w)) {
		r->end = UNWIND_GONE;
		r->id = STACK_EMPTY(UNWIND_GONE);
		return 0;
	}
	r->nr = w->nr;
	r->end = w->end - 1;
	walk_unreadable(w);
	if ((w->flags & WALK_ASK) && w->store) {
		r->id = walk_ask(w, index, send_list(w, out));
		if (!r->id) {
			count_lost(LOST_STACK);
			r->id = STACK_EMPTY(UNWIND_LOST);
		}
		return 0;
	}
	if (w->flags & WALK_ASK) {
		walk_send_miss(w);
		r->nr = 0;
		r->id = STACK_PROVISIONAL;
		return 0;
	}
	r->id = stack_id(w);
	if (w->store && w->nr)
		first_sight(w, out, r->id);
	return 0;
}
