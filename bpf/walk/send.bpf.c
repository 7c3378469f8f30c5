// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* send.bpf.c - the record of a walk that cannot be finished here: its registers and a copy of its stack, or
 * only the request for a process. */
#include "bpf/lib/who.bpf.h"
#include "maps.bpf.h"
#include "start.bpf.h"

struct walk_copy {
	__u64 head[sizeof(struct walk_record) / 8];
	__u64 stack[WALK_STACK_MAX / 8];
	/* Copying changes only these and the record: without bpf_loop(), the verifier would check each
	 * combination of values on the stack. */
	__u64 missing; /* the last page that is not in memory */
	__u64 row;     /* the number of such pages in a row */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct walk_copy);
} walk_copies SEC(".maps");

struct copy {
	struct walk_copy *c;
	__u64 start; /* address of the first piece */
};

/* Copying stops after this many missing pages in a row: they belong to an array that is not used yet, or the
 * stack has ended. Each costs a page fault. */
#define ROW_MAX 4

static long copy_piece(__u32 i, void *data)
{
	struct copy *copy = data;
	struct walk_copy *c = copy->c;
	struct walk_record *h = (struct walk_record *)c->head;
	__u64 at = (__u64)i * WALK_PIECE, page = (copy->start + at) & ~(PAGE - 1ULL);

	if (at > WALK_STACK_MAX - WALK_PIECE)
		return 1;
	/* Index by words: the array is indexed in u64. */
	if (page != c->missing && !bpf_probe_read_user(&c->stack[at >> 3], WALK_PIECE, (void *)copy->start + at)) {
		h->size = at + WALK_PIECE;
		c->row = 0;
		return 0;
	}
	c->row += page != c->missing;
	c->missing = page;
	h->holes |= 1U << (i & 31);
	return c->row > ROW_MAX;
}

/* Copies the stack, and sets size and holes. */
static __always_inline void copy_stack(struct walk_copy *c, struct walk_record *h)
{
	struct copy copy = {c, WALK_COPY(h->sp)};

	h->size = h->holes = 0;
	c->missing = 1;
	c->row = 0;
	bpf_loop(WALK_STACK_MAX / WALK_PIECE, copy_piece, &copy, 0);
}

/* Sends the beginning of the walk, so that userspace finishes it. w is no longer needed, and gets the
 * thread's registers again. Returns the id, or 0 if the record was not sent. */
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
	copy_stack(c, h);
	size = h->size;
	if (size > WALK_STACK_MAX)
		size = WALK_STACK_MAX;
	size += sizeof(*h);
	walk_asked(w, size); /* count lost records, too */
	return ring_output(c, size) ? 0 : h->id;
}

/* Asks only for the process: a walk that counts has no id to be replaced, and the next one will know more. */
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
