// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* handover.bpf.c - the caller's side of handover.h: before and after its tail call. */
#define HANDOVER_MAP
#include "handover.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} handover_order SEC(".maps");

__global int hand_over(struct stack_req *r, int what)
{
	__u32 zero = 0;
	__u64 *order = bpf_map_lookup_elem(&handover_order, &zero);
	struct handover *h;

	if (!r || !order)
		return 0;
	h = handover_at(r->slot);
	if (!h)
		return 0;
	h->req = *r;
	h->task = bpf_get_current_task();
	h->what = what;
	h->order = __sync_fetch_and_add(order, 1) + 1;
	return 0;
}

/* Takes the answer. If the tail call failed, the stack counts as lost. */
__global int take_back(struct stack_req *r)
{
	struct handover *h = r ? handover_at(r->slot) : NULL;

	if (!h)
		return 0;
	if (!h->order) {
		*r = h->req;
		return 0;
	}
	h->order = 0;
	count_lost(LOST_STACK);
	r->id = h->what == HANDOVER_STACK ? STACK_EMPTY(UNWIND_LOST) : 0;
	return 0;
}
