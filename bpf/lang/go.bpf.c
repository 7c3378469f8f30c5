// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* go.bpf.c - steps between Go's stacks, the kernel half of src/unwinders/go/go.c; and the number of a
 * thread's goroutine, the kernel half of goid.c.
 *
 * A thread has a g: a goroutine's, or its own for the scheduler, signals or C. The m of that g has the goroutine. */
#include "go.h"

#include "bpf/walk/lang.bpf.h"
#include "bpf/walk/lookup.bpf.h"
#include "bpf/walk/start.bpf.h"
#include "bpf/walk/step.bpf.h"

/* struct g, struct m and struct gobuf of Go's src/runtime/runtime2.go, go1.17 to go1.27.0: the same in all
 * versions in use, except for the offsets that rules carry. */
#define G_STACK_HI 8
#define G_M        48
#define G_SCHED_SP 56
#define G_SCHED_PC 64

/* ---- Go's stacks ------------------------------------------------------- */

/* Steps from g0's stack to the goroutine's. */
static __always_inline int by_gobuf(struct walk *w, __u64 rule)
{
	__u64 tp, g = 0, m = 0, sp = 0, pc = 0, fp = w->fp, bp = RULE_GOBUF_BP(rule);

	if (!RULE_GOBUF_TLS(rule)) {
		g = w->g;
	} else {
		tp = walk_tp(w);
		if (!tp || read_user(tp + RULE_GOBUF_TLS(rule), &g))
			return stop(UNWIND_UNREADABLE);
	}
	if (read_user(g + G_M, &m) || read_user(m + RULE_GOBUF_CURG(rule), &g))
		return stop(UNWIND_UNREADABLE);
	if (!g) /* the scheduler has put the goroutine aside */
		return stop(UNWIND_COMPLETE);
	if (read_user(g + G_SCHED_SP, &sp))
		return stop(UNWIND_UNREADABLE);
	if (bp) {
		if (read_user(g + G_SCHED_PC, &pc) || read_user(g + bp, &fp) ||
			read_user(g + bp - 8, &w->lr))
			return stop(UNWIND_UNREADABLE);
		tp = arrive(w, pc, sp, fp, 1);
		w->flags |= WALK_ARM64(w) && w->lr ? WALK_LR : 0; /* the function has no frame yet */
		return tp;
	}
	if (read_user(sp, &pc) || (WALK_ARM64(w) && read_user(sp - 8, &fp)))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, pc, sp + (WALK_ARM64(w) ? 16 : 8), fp, 1);
}

static __always_inline int by_cgocall(struct walk *w, __u64 rule)
{
	__u64 g = 0, old = 0, hi = 0, pc = 0, fp = w->fp, at;

	if (read_user(w->sp + RULE_CGOCALL_G(rule), &g) || read_user(w->sp + RULE_CGOCALL_SP(rule), &old))
		return stop(UNWIND_UNREADABLE);
	if (g) {
		if (read_user(g + G_STACK_HI, &hi))
			return stop(UNWIND_UNREADABLE);
		old = hi - old;
	}
	at = old;
	if (RULE_FLAGS(rule) & RULE_RA_SLOT) {
		at += RULE_SLOT(rule) + 8;
		old += 8;
		if (read_user(at - 8, &fp))
			return stop(UNWIND_UNREADABLE);
	}
	if (read_user(at, &pc))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, pc, old + 8, fp, 1);
}

/* Steps by a frame record: RA is above the caller's fp. If the caller has a record, its fp gives its sp; the
 * first frame of a thread or goroutine has none. size: bytes of the function's frame. */
static __always_inline int by_record(struct walk *w, __u64 at, __u64 size)
{
	__u64 fp = 0, ra = 0;

	if (walk_word(w, at, &fp) || walk_word(w, at + 8, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, fp ? fp + 8 : at + 8 + size, fp, 1);
}

/* A frame that a panic or preemption stopped in the middle of its body is complete on the stack. The fp in
 * its record may point to the stack's old place: Go before 1.27 does not correct it when the stack moves. */
static __always_inline int by_go_frame(struct walk *w, __u64 size)
{
	__u64 ra = w->lr;

	if (size && walk_word(w, w->sp, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, w->sp + size, w->sp + size - 8, 1);
}

/* A running frame may not have its record yet, or not any more. If LR is in the same function, the function
 * has called another one and RA is at sp. RA is also at sp if it equals LR, which was stored and not used
 * since. fp may already, or still, be the caller's. */
static __always_inline int by_go_rule(struct walk *w)
{
	__u64 fp = w->fp, saved = 0, ra, sp = w->sp, size = RULE_OFFSET(w->rule);

	if (!(w->flags & WALK_LR))
		return by_record(w, fp, size);
	if (w->flags & WALK_BODY)
		return by_go_frame(w, size);
	ra = strip(w, w->lr);
	if (size && walk_word(w, sp, &saved))
		return stop(UNWIND_UNREADABLE);
	saved = strip(w, saved);
	if (!size || (!w->own && saved != ra))
		return arrive(w, ra, sp, fp, 1);
	if (fp == sp - 8 && walk_word(w, fp, &fp))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, saved, sp + size, fp, 1);
}

__global int go_unwind(struct walk *w)
{
	if (!w)
		return stop(UNWIND_UNREADABLE);
	switch (RULE_KIND(w->rule)) {
	case RULE_GOBUF:
		return by_gobuf(w, w->rule);
	case RULE_CGOCALL:
		return by_cgocall(w, w->rule);
	}
	return WALK_ARM64(w) ? by_go_rule(w) : stop(UNWIND_NO_RULE);
}

/* ---- the goroutine's number ---------------------------------------------- */

/* The word of a table's header that holds struct go_table. */
#define GO_WORD (offsetof(struct table_header, own) / 8)

/* Returns the file with Go's runtime, or 0 if it is unknown. In a process that userspace has not published
 * yet, it is the file of the current pc. */
static __always_inline __u32 go_file(struct walk *w)
{
	struct mapping_chunk *c = chunk_of(w->pid, 0);

	if (c)
		return c->native_file;
	w->lookup = w->pc;
	if (walk_mapping(w)) {
		walk_send_miss(w);
		return 0;
	}
	return in_native_code(w) ? w->map.file : 0;
}

/* arm64: Go's own code keeps g in x28. C code may use x28, but it is called only after g was saved. */
static __always_inline __u64 go_g(struct walk *w, __s32 tls)
{
	__u64 tp, g = 0;

	if (WALK_ARM64(w)) {
		w->lookup = w->pc;
		if (!tls || (!walk_mapping(w) && in_native_code(w)))
			return w->g;
	}
	tp = tls ? thread_pointer() : 0;
	if (tp && !read_user(tp + (__s64)tls, &g))
		return g;
	return WALK_ARM64(w) && !tp ? w->g : 0;
}

static __always_inline __u64 go_number(struct walk *w, __u64 word)
{
	__u64 g = go_g(w, (__s32)word), m = 0, curg = 0, id = 0;
	__u32 in_m = word >> 32 & 0xffff, in_g = word >> 48;

	if (!g || !in_m || !in_g || read_user(g + G_M, &m) || !m || read_user(m + in_m, &curg) || !curg)
		return 0;
	read_user(curg + in_g, &id);
	return id;
}

/* Sets r->id to the number, or to 0 if the thread runs no goroutine. Uses only the slot of r. */
__global int go_id(struct stack_req *r)
{
	struct walk *w;
	__u32 file;
	void *t;

	if (!r)
		return -1;
	w = start_in_slot(r);
	if (!w)
		return 0;
	file = go_file(w);
	t = file ? bpf_map_lookup_elem(&tables, &file) : NULL;
	if (t)
		r->id = go_number(w, word_at(t, GO_WORD));
	return 0;
}
