// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* kstack.bpf.c - kernel stacks become ids: folded, sent at first sight. The walk is
 * the kernel's own, called by the program: bpf_get_stack() wants its context. */
#include "maps.bpf.h"
#include "kstack.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u32);
} kstacks_seen SEC(".maps");

static void first_sight(struct kstack_req *r, __u32 nr)
{
	__u64 size = sizeof(struct stack_record) + nr * 8;
	__u32 one = 1;
	__u64 id = r->id; /* Linux 6.1: no key in memory that was passed here */

	if (bpf_map_lookup_elem(&kstacks_seen, &id))
		return;
	FORGET(size);
	if (size > sizeof(struct stack_record) + KSTACK_MAX * 8)
		return; /* Linux 6.1 forgets half a word that was put aside */
	/* Only what was sent is seen: a full ring buffer loses nothing for good. */
	if (bpf_ringbuf_output(&ring, r, size, 0))
		lost_count(LOST_STACK);
	else
		bpf_map_update_elem(&kstacks_seen, &id, &one, BPF_ANY);
}

__global int stack_kernel(struct kstack_req *r)
{
	__u64 hash = STACK_HASH_SEED;
	__u32 nr;

	if (!r)
		return 0;
	nr = r->nr;
	if (nr > KSTACK_MAX)
		nr = KSTACK_MAX;
	r->id = 0;
	r->end = UNWIND_COMPLETE;
	r->head.kind = RECORD_STACK;
	r->head.id = 0;
	if (!nr)
		return 0;
	for (__u32 i = 0; i < KSTACK_MAX; i++) {
		if (i >= nr)
			break;
		r->ips[i] |= (__u64)FRAME_LANG_KERNEL << FRAME_LANG_SHIFT;
		hash = STACK_HASH(hash, r->ips[i]);
	}
	hash = STACK_HASH(hash, UNWIND_COMPLETE) & ~STACK_PROVISIONAL;
	r->id = hash ? hash : 1;
	first_sight(r, nr);
	return 0;
}
