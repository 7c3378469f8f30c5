/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* probed.bpf.h - addresses that uprobes change: that of an instruction which runs as a copy, and that of a return. */
#pragma once
#include "bpf/lib/kernel.bpf.h"
#include "lookup.bpf.h"
#include "maps.bpf.h"

/* ---- copies of instructions -------------------------------------------- */

#ifndef STRATA_HOST
#define PROBED_MAX 16 /* bytes of an instruction */

/* While a thread runs the copy of an instruction that a uprobe replaced, its pc is in "[uprobes]", above the stack
 * (Linux, kernel/events/uprobes.c: xol_get_insn_slot()). Puts it back to the instruction's own place. */
__global int walk_leave_copy(struct walk *w)
{
	__u64 utask = 0, copy = 0, at = 0;

	if (!w || w->pc <= w->sp || !unwind_config.utask_at ||
		bpf_probe_read_kernel(&utask, 8, (void *)(bpf_get_current_task() + unwind_config.task_utask)) || !utask)
		return 0;
	bpf_probe_read_kernel(&copy, 8, (void *)utask + unwind_config.utask_copy);
	bpf_probe_read_kernel(&at, 8, (void *)utask + unwind_config.utask_at);
	if (copy && w->pc - copy < PROBED_MAX)
		w->pc = at + (w->pc - copy);
	return 0;
}
#endif

/* ---- uretprobes -------------------------------------------------------- */

struct return_search {
	__u64 entry; /* struct return_instance */
	__u64 stack, found;
};

static long match_return(__u32 i, void *data)
{
	struct return_search *s = data;
	__u64 stack = 0;

	if (!s->entry || bpf_probe_read_kernel(&stack, 8, (void *)s->entry + unwind_config.return_stack))
		return 1;
	if (stack == s->stack) {
		bpf_probe_read_kernel(&s->found, 8, (void *)s->entry + unwind_config.return_addr);
		return 1;
	}
	if (bpf_probe_read_kernel(&s->entry, 8, (void *)s->entry + unwind_config.return_next))
		return 1;
	return 0;
}

/* A uretprobe replaced the return address on the stack. The kernel keeps the real one, by its old place: just
 * below sp after the return. Without it the walk ends at the trampoline. */
__global int walk_uretprobe(struct walk *w)
{
	struct return_search s = {};
	__u64 utask = 0;

	if (!w || !unwind_config.task_utask)
		return 0;
	w->lookup = w->pc;
	if (!walk_mapping(w) && (w->map.flags & MAPPING_UPROBES)) {
		s.stack = WALK_ARM64(w) ? w->sp : w->sp - 8;
		if (!bpf_probe_read_kernel(&utask, 8,
			(void *)(bpf_get_current_task() + unwind_config.task_utask)))
			bpf_probe_read_kernel(&s.entry, 8, (void *)utask + unwind_config.utask_returns);
		bpf_loop(64, match_return, &s, 0);
		if (s.found)
			w->pc = s.found;
	}
	w->lookup = w->flags & WALK_EXACT ? w->pc : w->pc - 1;
	return 0;
}
