// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* kstack.bpf.c - turns kernel stacks into ids: folded, and sent when first seen. The program calls the
 * kernel's own walk, because bpf_get_stack() wants the program's context. */
#include "kstack.h"

#include "bpf/lib/maps.bpf.h"
#include "bpf/lib/seen.bpf.h"

#define KSTACKS_SEEN_BUCKETS 4096
SEEN_MAP(kstacks_seen, KSTACKS_SEEN_BUCKETS);

static void first_sight(struct kstack_req *r, __u32 nr)
{
	__u64 size = sizeof(struct stack_record) + nr * 8;
	struct seen_bucket *b = seen_bucket(&kstacks_seen, KSTACKS_SEEN_BUCKETS, r->id);

	if (seen_has(b, r->id))
		return;
	FORGET(size);
	if (size > sizeof(struct stack_record) + KSTACK_MAX * 8)
		return; /* Linux 6.1 forgets half a word that was spilled */
	/* Only a stack that was sent counts as seen: a full ring buffer loses none permanently. */
	if (bpf_ringbuf_output(&ring, r, size, 0))
		count_lost(LOST_STACK);
	else
		seen_add(b, r->id);
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
