// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* hotspot.bpf.c - the kernel half of src/unwinders/hotspot/: Java's frames.
 *
 * Interpreted (x86_64):              Compiled, from sp on:
 *     fp+8   return address              frame_size - 16 bytes
 *     fp     the caller's fp             the caller's fp (arm64: fp, then LR)
 *     fp-8   the caller's sp             return address
 *     fp-16  last sp
 *     fp-24  Method
 *     ..     bcp: address of the bytecode that runs, if it calls another method
 *
 * (src/hotspot/cpu/x86/frame_x86.hpp and aarch64/frame_aarch64.hpp of JDK 8.0 to 26.0) The interrupted frame has its
 * bcp in r13. Before an interpreted frame exists its Method is in rbx, and the caller's sp in r13. arm64:
 * hotspot_arm64.bpf.h.
 *
 * A deoptimised frame returns to a handler; the place from which it was called is in the frame. */
#include "hotspot.h"

#include "hotspot_names.bpf.h"
#include "hotspot_top.bpf.h"

#define FRAME_METHOD (-24)
#define FRAME_SENDER (-8)
#define FRAME_BCP_OTHER(bcp) (-64 - 72 - (bcp))

#ifndef STRATA_HOST
/* The layout of a process is known from its own memory, by userspace. */
__global int hotspot_meet(struct walk *w)
{
	return -1;
}
#endif

/* Runs once in a walk, at its first frame of Java. Returns 0 on success, -1 on failure. The code cache stays where it
 * is until the process ends. */
__global int hotspot_begin(struct walk *w)
{
	struct hotspot_scratch *s;
	struct hotspot_proc *p;
	__u64 now;
	__u32 pid;

	if (!w)
		return -1;
	pid = w->pid;
	p = bpf_map_lookup_elem(&hotspot_procs, &pid);
	s = scratch_of(w);
	if (!p || !s)
		return -1;
	w->frame_begun = FRAME_LANG_JAVA;
	own_of(w)->serial = ++s->serial;
	now = bpf_ktime_get_ns();
	if (s->pid == pid && s->proc.generation == p->generation && now - s->began < HOTSPOT_TRUST)
		return 0;
	s->began = now;
	s->round++;
	if (s->pid == pid && s->proc.generation == p->generation)
		return 0;
	s->proc = *p;
	s->pid = pid;
	if (!read_heaps(s))
		return 0;
	s->pid = 0;
	w->frame_begun = 0;
	return -1;
}

/* ---- memos ---- */

static __always_inline __u64 memo_hash(__u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL;
}

#define MEMO_FIRST(hash)  ((__u32)((hash) >> 55))
#define MEMO_SECOND(hash) (HOTSPOT_MEMO / 2 + (__u32)((hash) >> 46 & (HOTSPOT_MEMO / 2 - 1)))
_Static_assert(HOTSPOT_MEMO / 2 == 1 << (64 - 55), "the hash's upper bits");

/* Returns 0 if x is 0, else all bits. The functions here have no branches, because the verifier would follow each to
 * the end. */
static __always_inline __u64 any_bit(__u64 x)
{
	x |= -x;
	FORGET(x); /* else clang sees a comparison, and makes it a branch */
	x = (__u64)((__s64)x >> 63);
	FORGET(x);
	return x;
}

/* Returns 0 if it is the key's memo, else all bits. */
static __always_inline __u64 differs(const struct hotspot_scratch *s, const struct hotspot_memo *m, __u64 key)
{
	return any_bit((m->key ^ key) | (m->generation ^ s->proc.generation));
}

/* Returns the number of the key's memo; with HOTSPOT_MEMO, the memo has to be filled: the second one if this round has
 * used the first one. */
static __always_inline __u32 find_memo(struct hotspot_scratch *s, __u64 key)
{
	__u64 hash = memo_hash(key), first = MEMO_FIRST(hash), second = MEMO_SECOND(hash);
	const struct hotspot_memo *m = &s->memo[first & (HOTSPOT_MEMO - 1)];
	__u64 not_first = differs(s, m, key), not_second = differs(s, &s->memo[second & (HOTSPOT_MEMO - 1)], key);
	__u64 unused = any_bit(m->round ^ s->round), neither = not_first & not_second;

	return (first + ((second - first) & not_first & ~(neither & unused))) | (neither & HOTSPOT_MEMO);
}

/* Returns whether the memo of compiled code, or of a stub, is still valid. */
static __always_inline int is_valid(const struct hotspot_scratch *s, struct hotspot_memo *m)
{
	__u64 name = 0;
	__u32 id = 0;

	if (m->round == s->round)
		return 1;
	if (m->kind == HOTSPOT_COMPILED || m->kind == HOTSPOT_NATIVE) {
		if (read_u32(m->object + s->proc.compile_id, &id) || id != m->print)
			return 0;
	} else if (m->kind == HOTSPOT_INTERPRETED || read_user(m->object + s->proc.blob_name, &name) ||
		name != m->print) {
		return 0;
	}
	m->round = s->round;
	return 1;
}

/* Returns the frame of compiled code or of a stub. */
static __always_inline __u64 blob_frame(const struct hotspot_scratch *s, __u64 pc, int exact)
{
	const struct hotspot_blob *b = &s->blob;
	__u64 id = seen_mix(s->proc.generation, b->name);

	if (b->kind == HOTSPOT_COMPILED || b->kind == HOTSPOT_NATIVE)
		id = seen_mix(seen_mix(seen_mix(id, b->at), (__u64)b->compile_id << 1 | !!exact), pc);
	return FRAME_JAVA(id);
}

/* Returns the number of the memo of a return address, or HOTSPOT_MEMO if it is not in the code cache. */
__global __u32 hotspot_at(struct hotspot_scratch *s, __u64 pc)
{
	struct hotspot_memo *m;
	struct hotspot_blob *b;
	__u32 k, op = 0;

	if (!s)
		return HOTSPOT_MEMO;
	k = find_memo(s, pc);
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	if (!(k & HOTSPOT_MEMO) && is_valid(s, m))
		return k;
	k &= HOTSPOT_MEMO - 1;
	m->key = 0;
	if (hotspot_blob(s, pc))
		return HOTSPOT_MEMO;
	b = &s->blob;
	m->key = pc;
	m->object = b->at;
	m->generation = s->proc.generation;
	m->round = s->round;
	m->size = b->size;
	m->sort = b->sort;
	m->kind = b->kind;
	m->sent = 0;
	m->print = b->method ? b->compile_id : b->name;
	m->frame = blob_frame(s, pc, 0);
	/* C1 pushes two words before it calls slow_subtype_check. */
	if (s->proc.arm64 && b->kind == HOTSPOT_COMPILED && b->size && !read_u32(pc, &op) &&
		(op & A64_PAIR_MASK) == A64_POP_PAIR)
		m->size += 16;
	if (b->kind == HOTSPOT_COMPILED && (pc == b->deopt || (b->deopt_mh && pc == b->deopt_mh))) {
		m->sort = SORT_DEOPT;
		m->frame = b->orig_pc;
	}
	return k;
}

/* Returns the number of the memo of a position in a method's bytecode, or HOTSPOT_MEMO if it is not one. The position
 * of a native method is 0. */
__global __u32 hotspot_bytecode(struct hotspot_scratch *s, __u64 method, __u64 bcp)
{
	__u64 key = bcp ? bcp : method | 1, print, bci = 0;
	struct hotspot_memo *m;
	int known;
	__u32 k;

	if (!s)
		return HOTSPOT_MEMO;
	k = find_memo(s, key);
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	known = !(k & HOTSPOT_MEMO) && m->object == method && m->kind == HOTSPOT_INTERPRETED;
	if (known && m->round == s->round)
		return k;
	k &= HOTSPOT_MEMO - 1;
	print = method_print(s, method);
	if (known && m->print == print) {
		m->round = s->round;
		return k;
	}
	m->key = 0;
	if (!print)
		return HOTSPOT_MEMO;
	if (bcp)
		bci = bcp - s->base;
	if (bcp && bci >= s->code_size)
		return HOTSPOT_MEMO;
	m->key = key;
	m->object = method;
	m->generation = s->proc.generation;
	m->round = s->round;
	m->size = 0;
	m->sort = SORT_INTERPRETER;
	m->kind = HOTSPOT_INTERPRETED;
	m->sent = 0;
	m->print = print;
	m->bci = bci;
	m->frame = FRAME_JAVA(seen_mix(seen_mix(print, bci), FRAME_LANG_JAVA));
	return k;
}

/* ---- an interpreted frame ---- */

static __always_inline void set_bytecode(struct hotspot_scratch *s, struct hotspot_place *f, __u32 k, __u64 method)
{
	struct hotspot_memo *m = &s->memo[k & (HOTSPOT_MEMO - 1)];

	f->k = k;
	f->method = method;
	f->frame = m->frame;
	f->kind = HOTSPOT_INTERPRETED;
	f->bci = m->bci;
}

/* The frame at fp. bcp: of the interrupted frame, from its register, or 0. Returns 0, or -1 if it is not one. */
__global int hotspot_interpreted(struct walk *w, struct hotspot_scratch *s, __u64 bcp)
{
	__u64 method = 0, saved = 0;
	struct hotspot_place *f;
	__u32 k = HOTSPOT_MEMO;

	if (!w || !s)
		return -1;
	f = &s->place;
	if ((w->fp & 7) || w->fp - w->sp >= HOTSPOT_FRAME_MAX || walk_word(w, w->fp + s->proc.frame_bcp, &saved) ||
		walk_word(w, w->fp + FRAME_METHOD, &method) || !method)
		return -1;
	if (bcp)
		k = hotspot_bytecode(s, method, bcp);
	if (k & HOTSPOT_MEMO) {
		bcp = saved;
		k = hotspot_bytecode(s, method, bcp);
	}
	/* On arm64, updates of older versions have the word of newer ones. */
	if (k & HOTSPOT_MEMO && WALK_ARM64(w) && s->proc.frame_bcp <= -64) {
		if (walk_word(w, w->fp + FRAME_BCP_OTHER(s->proc.frame_bcp), &saved))
			return -1;
		k = hotspot_bytecode(s, method, saved);
		if (!(k & HOTSPOT_MEMO))
			s->proc.frame_bcp = FRAME_BCP_OTHER(s->proc.frame_bcp);
	}
	if (k & HOTSPOT_MEMO)
		return -1;
	set_bytecode(s, f, k, method);
	f->step = STEP_SENDER;
	return 0;
}

/* An interrupted method whose frame is being made: returns whether fp is already its own, which has the return address
 * above it, and not yet all its words below it. */
static __always_inline int top_begun(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 sender = w->regs[RULE_REG_R13], ra;

	if ((w->fp & 7) || w->fp - w->sp >= (__u64)-s->proc.frame_bcp || walk_word(w, w->fp, &f->to_fp))
		return 0;
	ra = hotspot_code(w, s, w->fp + 8);
	if (!ra)
		return 0;
	f->step = STEP_GIVEN;
	f->to_pc = ra;
	if (w->fp - w->sp >= 8)
		walk_word(w, w->fp + FRAME_SENDER, &sender);
	f->to_sp = is_near(sender, w->fp + 16) ? sender : w->fp + 16;
	return 1;
}

/* An interrupted method that has no frame yet, or no longer: returns whether its return address is on the stack or in
 * rax. */
static __always_inline int top_unframed(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 sender = w->regs[RULE_REG_R13], rbx = w->regs[RULE_REG_RBX], rax = w->regs[RULE_REG_RAX];
	__u64 ra = hotspot_code(w, s, w->sp);
	int on_stack = !!ra;

	if (!on_stack && hotspot_code(w, s, w->sp + 8)) { /* after push %rbp */
		f->step = STEP_TOP;
		f->size = 8;
		return 1;
	}
	if (!on_stack && !hotspot_in_cache(s, rax))
		return 0;
	f->step = STEP_GIVEN;
	f->to_pc = on_stack ? ra : rax;
	f->to_sp = is_near(sender, w->sp) ? sender : is_near(rbx, w->sp) ? rbx : w->sp + 8 * on_stack;
	return 1;
}

/* Returns whether a called method has just returned to the interpreter, which restores its registers from its frame:
 * mov -16(%rbp),%rsp, or since 22 mov -16(%rbp),%rcx; lea (%rbp,%rcx,8),%rsp; movq $0,-16(%rbp); mov ..(%rbp),%r13. */
static __always_inline int has_returned(struct walk *w)
{
	__u32 op = 0;

	if (read_u32(w->pc, &op))
		return 0;
	return op == 0xf0658b48 || op == 0xf04d8b48 || op == 0xcd648d48 || op == 0xf045c748 ||
	       (op & 0xffffff) == 0x6d8b4c;
}

/* Interrupted in the interpreter: the registers are its own. */
static __always_inline void top_interpreter(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u64 r13 = w->regs[RULE_REG_R13], rbx = w->regs[RULE_REG_RBX];
	__u32 k = HOTSPOT_MEMO;

	f->step = STEP_FP;
	if (!(w->flags & WALK_REGS) || has_returned(w)) {
		hotspot_interpreted(w, s, 0);
		return;
	}
	if (top_begun(w, s, f) || (is_near(r13, w->sp) && top_unframed(w, s, f)))
		k = hotspot_bytecode(s, rbx, 0);
	if (!(k & HOTSPOT_MEMO))
		set_bytecode(s, f, k, rbx);
	if (!(k & HOTSPOT_MEMO) || !hotspot_interpreted(w, s, r13))
		return;
	if (!hotspot_in_cache(s, r13)) {
		top_unframed(w, s, f);
		return;
	}
	f->step = STEP_GIVEN; /* the method has returned: r13 is where it jumps to */
	f->to_pc = r13;
	f->to_sp = is_near(rbx, w->sp) ? rbx : w->sp;
}

#include "hotspot_arm64.bpf.h"

/* ---- the frame of the walk ---- */

static __always_inline int top(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	int is_pushed = 0;

	if (hotspot_blob(s, w->pc))
		return -1;
	f->kind = s->blob.kind;
	f->frame = blob_frame(s, w->pc, 1);
	if (WALK_ARM64(w)) {
		top_arm64(w, s, f);
		return 0;
	}
	f->to_pc = f->kind == HOTSPOT_STUB && s->blob.sort != SORT_INTERPRETER ? jumps_to(w, s) : 0;
	if (f->to_pc) {
		f->to_sp = w->sp;
		f->step = STEP_GIVEN;
	} else if (s->blob.sort == SORT_INTERPRETER)
		top_interpreter(w, s, f);
	else if (f->kind == HOTSPOT_NATIVE)
		top_native(w, s, f);
	else if (s->blob.sort == SORT_SIZED && s->blob.kind == HOTSPOT_STUB)
		is_pushed = top_stub_sized(w, s, f);
	else if (s->blob.sort == SORT_SIZED)
		top_sized(w, s, f);
	else if (s->blob.sort == SORT_JUMP || s->blob.sort == SORT_ADAPTER)
		top_jump(w, s, f);
	else if (s->blob.sort == SORT_LEAF && prologue_words(w) < 0)
		is_pushed = top_leaf(w, s, f);
	else
		top_stub(w, s, f);
	FORGET(is_pushed); /* else clang copies the loop to both places */
	if (is_pushed)
		top_pushed(w, s, f);
	return 0;
}

/* A stub that calls C++ without a frame, though it may align sp. */
static __always_inline void called_leaf(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	__u32 words = 0;

	f->to_pc = hotspot_code(w, s, w->sp);
	if (!f->to_pc) {
		words = 8;
		f->to_pc = hotspot_code(w, s, w->sp + 8);
	}
	if (!f->to_pc)
		return;
	f->to_sp = w->sp + words + 8;
	f->step = STEP_GIVEN;
}

/* A frame that was called from the code cache. */
static __always_inline int called(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	struct hotspot_memo *m;
	__u32 k = hotspot_at(s, w->pc), size;

	if (k & HOTSPOT_MEMO)
		return -1;
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	size = m->size;
	if (m->sort == SORT_DEOPT) {
		if (walk_word(w, w->sp + m->frame, &f->real))
			return -1;
		k = hotspot_at(s, f->real);
		m = &s->memo[k & (HOTSPOT_MEMO - 1)];
		f->size = size;
		f->step = STEP_SIZE;
		if (k & HOTSPOT_MEMO || m->sort != SORT_SIZED)
			return 0;
	}
	f->k = k;
	f->frame = m->frame;
	f->kind = m->kind;
	f->size = size;
	if (m->sort == SORT_INTERPRETER) { /* while a frame is deoptimised, those that replace it have no methods yet */
		f->step = STEP_SENDER;
		hotspot_interpreted(w, s, 0);
		return 0;
	}
	f->step = m->sort == SORT_SIZED ? STEP_SIZE : STEP_FP;
	if (m->sort == SORT_LEAF && !WALK_ARM64(w))
		called_leaf(w, s, f);
	if (m->sort == SORT_SIZED && m->kind == HOTSPOT_COMPILED && has_breadcrumb(w))
		f->size += 16;
	/* Deoptimisation aligns sp, and has a frame pointer. */
	if (m->sort == SORT_SIZED && m->kind == HOTSPOT_STUB && w->fp - w->sp < size + 64 &&
		!hotspot_code(w, s, w->sp + size - 8) && hotspot_code(w, s, w->fp + 8))
		f->step = STEP_FP;
	if (m->sort == SORT_BARRIER) {
		f->kind = HOTSPOT_CONTINUATION;
		f->frame = FRAME_JAVA(1);
		f->step = STEP_STOP;
	}
	return 0;
}

static __always_inline int is_place(struct walk *w, const struct hotspot_place *f)
{
	return w->frame_begun == FRAME_LANG_JAVA && f->serial == own_of(w)->serial && f->pc == w->pc &&
	       f->sp == w->sp && f->fp == w->fp;
}

/* Finds the walk's frame. Returns 0, or -1 if it is not in the code cache. */
__global int hotspot_place(struct walk *w)
{
	struct hotspot_scratch *s = w ? scratch_of(w) : NULL;
	struct hotspot_place *f;

	if (!s || (w->frame_begun != FRAME_LANG_JAVA && hotspot_begin(w)))
		return -1;
	f = &s->place;
	f->serial = own_of(w)->serial;
	f->pc = f->real = w->pc;
	f->sp = w->sp;
	f->fp = f->to_fp = w->fp;
	f->frame = f->method = f->bci = 0;
	f->kind = HOTSPOT_NONE;
	f->step = STEP_UNKNOWN;
	f->k = HOTSPOT_MEMO;
	f->exact = w->flags & WALK_EXACT;
	return f->exact ? top(w, s, f) : called(w, s, f);
}

__global __u64 hotspot_frame(struct walk *w)
{
	struct hotspot_scratch *s = w ? scratch_of(w) : NULL;
	struct hotspot_place *f;
	struct hotspot_memo *m;

	if (!s || hotspot_place(w))
		return 0;
	f = &s->place;
	if (!f->frame || (w->filter && f->kind == HOTSPOT_STUB))
		return 0;
	if (!w->store || f->kind == HOTSPOT_CONTINUATION)
		return f->frame;
	m = &s->memo[f->k & (HOTSPOT_MEMO - 1)];
	if (f->k & HOTSPOT_MEMO) {
		hotspot_send(w, s);
	} else if (!m->sent) {
		m->sent = !hotspot_send(w, s);
	}
	return f->frame;
}

/* Returns the memo of a return address or a bytecode, or NULL if it has to be checked or filled in this round. */
static __always_inline struct hotspot_memo *known_memo(struct hotspot_scratch *s, __u64 key)
{
	__u64 hash = memo_hash(key), k = MEMO_FIRST(hash);
	struct hotspot_memo *m;

	FORGET(k);
	m = &s->memo[k & (HOTSPOT_MEMO - 1)];
	if (m->key != key || m->generation != s->proc.generation) { /* a branch: each frame comes here */
		k = MEMO_SECOND(hash);
		FORGET(k);
		m = &s->memo[k & (HOTSPOT_MEMO - 1)];
		if (m->key != key || m->generation != s->proc.generation)
			return NULL;
	}
	return m->round == s->round ? m : NULL;
}

/* The fast way for most frames: the records of their code were sent, and all their words are in the window. fp and RA
 * are at `at`: for an interpreted frame its own frame pointer, else the end of the frame. Returns the address that the
 * window lacks, or 0. */
__global __u64 hotspot_frames(struct walk *w)
{
	__u64 pc, sp, fp, hash, wanted = 0;
	struct stack_record *out;
	struct hotspot_scratch *s;
	__u32 index, nr;

	if (!w)
		return 0;
	index = w->slot;
	out = bpf_map_lookup_elem(&frames, &index);
	s = bpf_map_lookup_elem(&hotspot_scratch, &index);
	if (!out || !s || w->frame_begun != FRAME_LANG_JAVA)
		return 0;
	pc = w->pc;
	sp = w->sp;
	fp = w->fp;
	nr = w->nr;
	hash = w->hash;
	for (int i = 0; i < HOTSPOT_FAST; i++) {
		struct hotspot_memo *m = known_memo(s, pc);
		__u64 at, o, next, sender, ra, method;
		int interpreted;
		__u32 k;

		if (!m) {
			k = hotspot_at(s, pc);
			if (k & HOTSPOT_MEMO)
				break;
			m = &s->memo[k & (HOTSPOT_MEMO - 1)];
		}
		if (nr >= w->limit)
			break;
		interpreted = m->sort == SORT_INTERPRETER;
		if (!interpreted && (m->sort != SORT_SIZED || m->kind == HOTSPOT_STUB))
			break;
		at = interpreted ? fp : sp + m->size - 16;
		o = at - w->window_at;
		if ((at & 7) || at < sp)
			break;
		if (o - HOTSPOT_BELOW * interpreted > WINDOW_BYTES - HOTSPOT_BELOW - 16) {
			wanted = own_of(w)->asked == at ? 0 : at - HOTSPOT_BELOW * interpreted;
			own_of(w)->asked = at;
			break;
		}
		next = at + 16;
		if (interpreted) {
			method = window_word(w, o + FRAME_METHOD);
			m = known_memo(s, window_word(w, o + s->proc.frame_bcp));
			if (!m && method) {
				k = hotspot_bytecode(s, method, window_word(w, o + s->proc.frame_bcp));
				if (k & HOTSPOT_MEMO)
					break;
				m = &s->memo[k & (HOTSPOT_MEMO - 1)];
			}
			if (!m || m->object != method || m->kind != HOTSPOT_INTERPRETED)
				break;
			sender = window_word(w, o + FRAME_SENDER);
			if (is_near(sender, next))
				next = sender;
		}
		ra = strip(w, window_word(w, o + 8));
		if (!ra || m->sent < w->store)
			break;
		store_frame(w, out, nr++, m->frame);
		hash = STACK_HASH(hash, m->frame);
		fp = window_word(w, o);
		sp = next;
		pc = ra;
	}
	if (nr != w->nr)
		w->flags &= ~(WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED);
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->nr = nr;
	w->hash = hash;
	return wanted;
}

/* A frame that is not in the code cache, or whose code is unknown. */
static __always_inline int by_guess(struct walk *w)
{
	__u64 ra = 0, fp = 0;
	int err = 0;

	if ((w->flags & WALK_EXACT) && (WALK_ARM64(w) ? fp_top_arm(w, &err) : fp_top_x86(w, &err)))
		return err;
	if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
		return stop(UNWIND_NO_TABLE);
	if (walk_word(w, w->fp, &fp) || walk_word(w, w->fp + 8, &ra))
		return stop(UNWIND_UNREADABLE);
	err = arrive(w, ra, w->fp + 16, fp, 0);
	w->flags |= WALK_GUESSED;
	return err;
}

/* Sets the step of a frame that hotspot_frame() has not seen, because only frames of another language are wanted. */
static __always_inline int unseen(struct walk *w, struct hotspot_scratch *s, struct hotspot_place *f)
{
	if ((w->frame_begun != FRAME_LANG_JAVA && hotspot_begin(w)) || hotspot_blob(s, w->pc))
		return -1;
	f->serial = 0;
	f->size = s->blob.size;
	f->step = s->blob.sort == SORT_INTERPRETER ? STEP_SENDER : s->blob.sort == SORT_SIZED ? STEP_SIZE : STEP_FP;
	return 0;
}

/* The places of the caller's fp (0: it is in its register) and RA, and its sp. */
struct caller {
	__u64 fp_at, ra_at, sp;
};

static __always_inline int caller_of(struct walk *w, const struct hotspot_place *f, struct caller *c)
{
	__u64 sp = 0;

	switch (f->step) {
	case STEP_SIZE:
	case STEP_SIZE_FP:
		c->sp = w->sp + f->size;
		c->ra_at = c->sp - 8;
		c->fp_at = f->step == STEP_SIZE ? c->sp - 16 : 0;
		return 0;
	case STEP_TOP:
		c->ra_at = w->sp + f->size;
		c->sp = c->ra_at + 8;
		c->fp_at = f->size ? w->sp : 0;
		return 0;
	}
	if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
		return -1;
	c->fp_at = w->fp;
	c->ra_at = w->fp + 8;
	c->sp = w->fp + 16;
	if (f->step == STEP_SENDER && !walk_word(w, w->fp + FRAME_SENDER, &sp) && is_near(sp, c->sp))
		c->sp = sp;
	return 0;
}

__global int hotspot_unwind(struct walk *w)
{
	struct hotspot_scratch *s = w ? scratch_of(w) : NULL;
	struct hotspot_place *f;
	struct caller c = {};
	__u64 ra = 0, fp;

	if (!s)
		return stop(UNWIND_UNREADABLE);
	f = &s->place;
	if ((!is_place(w, f) && unseen(w, s, f)) || f->step == STEP_UNKNOWN)
		return by_guess(w);
	if (f->step == STEP_STOP)
		return stop(UNWIND_COMPLETE);
	if (f->step == STEP_GIVEN)
		return arrive(w, f->to_pc, f->to_sp, f->to_fp, f->to_sp == w->sp);
	if (caller_of(w, f, &c))
		return stop(UNWIND_NO_TABLE);
	fp = w->fp;
	if ((c.fp_at && walk_word(w, c.fp_at, &fp)) || walk_word(w, c.ra_at, &ra))
		return stop(UNWIND_UNREADABLE);
	if (f->step == STEP_FP && !~ra) { /* the entry barrier of methods puts a word below its return address */
		c.sp += 8;
		walk_word(w, c.ra_at + 8, &ra);
	}
	if (!ra) /* no thread begins in the code cache */
		return stop(UNWIND_NO_TABLE);
	return arrive(w, ra, c.sp, fp, 0);
}

__global int hotspot_above(struct walk *w)
{
	return stop(UNWIND_COMPLETE);
}
