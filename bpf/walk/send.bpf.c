// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* send.bpf.c - what a walk that cannot be finished here sends to userspace: its registers and a
 * copy of its stack, or the question for a process alone. */
#include "bpf/lib/who.bpf.h"
#include "maps.bpf.h"
#include "start.bpf.h"

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

/* The walk's beginning, for userspace to finish it: w is over, and has the thread's registers again. Its
 * id, or 0: not sent. */
__global __u64 walk_ask(struct walk *w, __u32 index, __u64 list)
{
	struct walk_copy *c = bpf_map_lookup_elem(&walk_copies, &index);
	struct walk_record *h;
	__u64 ids = current_ids(), id;
	__u32 size;

	if (!c || !w || user_registers(w))
		return 0;
	h = (struct walk_record *)c->head;
	h->head.kind = RECORD_WALK;
	h->list = list;
	h->list_lang = w->list.lang;
	h->head.id = 0;
	h->pid = ids >> 32;
	h->tid = ids;
	h->filter = w->filter;
	h->limit = w->limit;
	h->pc = w->pc;
	h->sp = w->sp;
	h->fp = w->fp;
	h->lr = w->lr;
	__builtin_memcpy(h->regs, w->regs, sizeof(h->regs));
	if (WALK_ARM64(w))
		h->regs[RULE_REG_X28] = w->g;
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
__global int walk_send_miss(struct walk *w)
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
