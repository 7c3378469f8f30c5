// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* go.bpf.c - the number of the goroutine that a thread runs: the kernel half of
 * src/unwinders/go/goid.c, by what that says of the process' file.
 *
 * A thread has a g: a goroutine's, or its own for the scheduler, signals or C; the g's m
 * tells the goroutine. */
#include "bpf/walk/lookup.bpf.h"

/* The word of a table's header with go_tls, go_curg, go_goid. */
#define GO_WORD (offsetof(struct table_header, go_tls) / 8)

/* The file that has Go's runtime; 0: none is known. A process that userspace has not told
 * of yet is taken for what its pc is in. */
static __always_inline __u32 go_file(struct walk *w)
{
	struct mapping_chunk *c = chunk_of(w->pid, 0);

	if (c)
		return c->go_file;
	w->lookup = w->pc;
	if (walk_mapping(w)) {
		tell_miss(w);
		return 0;
	}
	return is_go(w) ? w->map.file : 0;
}

/* arm64: Go's own code keeps g in x28; C's, which may use that, is called only after it was
 * saved. */
static __always_inline __u64 go_g(struct walk *w, __s32 tls)
{
	__u64 tp, g = 0;

	if (WALK_ARM64(w)) {
		w->lookup = w->pc;
		if (!tls || (!walk_mapping(w) && is_go(w)))
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

/* r->id: the number; 0: the thread runs no goroutine. In r only the slot is looked at. */
__global int go_id(struct stack_req *r)
{
	__u32 index, file;
	struct walk *w;
	void *t;

	if (!r)
		return -1;
	r->id = 0;
	index = bpf_get_smp_processor_id() * SCRATCH_SLOTS + (r->slot & (SCRATCH_SLOTS - 1));
	w = bpf_map_lookup_elem(&walks, &index);
	if (!w || user_registers(w))
		return 0;
	start(w, r, index);
	file = go_file(w);
	t = file ? bpf_map_lookup_elem(&tables, &file) : NULL;
	if (t)
		r->id = go_number(w, word_at(t, GO_WORD));
	return 0;
}
