// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* walker.bpf.c - the walk as a program, see handover.h. The session loads it for each type
 * of program that calls it. */
#include "handover.bpf.h"

/* Answers the last request of the current thread on this CPU: a program that interrupts another one of the
 * same thread, between its request and its call, gets its answer before the other one continues. */
SEC("?raw_tp")
int walk_handed(void *ctx)
{
	__u64 task = bpf_get_current_task(), order = 0;
	struct handover *mine = NULL;

	for (__u32 slot = 0; slot < SCRATCH_SLOTS; slot++) {
		struct handover *h = handover_at(slot);

		if (!h || h->task != task || h->order <= order)
			continue;
		order = h->order;
		mine = h;
	}
	if (!mine)
		return 0;
	mine->order = 0;
	if (mine->what == HANDOVER_GOID)
		go_id(&mine->req);
	else if (mine->what == HANDOVER_BEAMPID)
		beam_id(&mine->req);
	else
		stack_user(&mine->req);
	return 0;
}
