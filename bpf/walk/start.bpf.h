/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* start.bpf.h - the beginning of a walk: the registers of the current thread, and a fresh state. */
#pragma once
#include "bpf/lib/who.bpf.h"
#include "lookup.bpf.h"
#include "maps.bpf.h"

/* ---- registers --------------------------------------------------------- */

/* Sets the registers, and the flags that say which of them are known. Returns 0, or the reason for
 * which there is no user stack. Host: host/walk.c. */
int user_registers(struct walk *w);

#ifndef STRATA_HOST
#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
	__u64 orig_x0;
	__s32 syscall;
};
#else
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	__u64 orig_ax, ip;
	__u16 cs, pad[3]; /* only these bits are the segment, with FRED */
	__u64 flags, sp;
};
#endif
#endif

/* Keeps the mappings of the last walk if they are of the same process and have not changed. Returns whether it did.
 * The trampoline of uretprobes is looked for again: see locate(). */
static __always_inline int keep_mappings(struct walk *w)
{
	__u32 at = MAPPING_VERSION(w->pid);
	__u64 *version = bpf_map_lookup_elem(&mapping_versions, &at);

	if (version && w->kept_version == *version && w->kept_pid == w->pid && !(w->map.flags & MAPPING_UPROBES)) {
		set_span(w);
		return 1;
	}
	w->kept_pid = 0;
	if (version && w->pid) {
		/* An atomic operation, because arm64 would otherwise read mappings first. */
		w->kept_version = __sync_fetch_and_add(version, 0);
		w->kept_pid = w->pid;
	}
	w->map.start = w->map.end = 0;
	w->before.start = w->before.end = 0;
	for (int i = 0; i < MAPPINGS_OLDER; i++)
		w->older[i].start = w->older[i].end = 0;
	w->cached_span = 0;
	return 0;
}

/* Resets the walk's results, and its place in all lists. Returns 0. */
int walk_reset(struct walk *w);

/* Resets the state. The window, signal[] and the table's header may keep their values. Returns whether the mappings
 * are known from the last walk. */
static __always_inline int start(struct walk *w, struct stack_req *r, __u32 index)
{
	__u64 ids = current_ids();

	w->window_at = WINDOW_NONE;
	w->tid = ids;
	w->pid = ids >> 32;
	w->limit = r->limit > UNWIND_LIMIT_MAX ? UNWIND_LIMIT_MAX : r->limit;
	w->filter = r->filter;
	w->store = !r->len_only;
	w->store_mask = -w->store;
	if (w->store && w->limit > unwind_config.max_frames)
		w->limit = unwind_config.max_frames;
	w->slot = index;
	w->tp = 0;
	w->back = r->back;
	walk_reset(w);
	return keep_mappings(w);
}

/* Begins a walk for a function that only looks at the thread, in the slot of r. Sets r->id to 0. Returns NULL on
 * failure. */
static __always_inline struct walk *start_in_slot(struct stack_req *r)
{
	__u32 index = bpf_get_smp_processor_id() * SCRATCH_SLOTS + (r->slot & (SCRATCH_SLOTS - 1));
	struct walk *w = bpf_map_lookup_elem(&walks, &index);

	r->id = 0;
	if (!w || user_registers(w))
		return NULL;
	start(w, r, index);
	return w;
}

/* Returns whether the thread is in execve or execveat: numbers from the kernel's asm/unistd.h. */
static __always_inline int in_exec(void)
{
#ifdef STRATA_HOST
	return 0;
#else
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_arm64
	return r->syscall == 221 || r->syscall == 281;
#else
	return r->orig_ax == 59 || r->orig_ax == 322;
#endif
#endif
}

/* A thread that exits keeps its registers longer than its memory. One that runs another program gets the new
 * memory before the new registers. */
static __always_inline int memory_has_gone(struct walk *w)
{
	__u64 mm = 1;

	if (in_exec()) /* until then the thread has its own memory */
		return !!bpf_probe_read_user(&mm, 8, (void *)w->first_sp);
	if (unwind_config.task_mm)
		bpf_probe_read_kernel(&mm, 8, (void *)(bpf_get_current_task() + unwind_config.task_mm));
	return !mm;
}
