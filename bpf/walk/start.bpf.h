/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* start.bpf.h - the beginning of a walk: the registers of the current thread, and a fresh state. */
#pragma once
#include "bpf/lib/who.bpf.h"
#include "lookup.bpf.h"
#include "maps.bpf.h"

/* ---- registers --------------------------------------------------------- */

#ifdef STRATA_HOST
int user_registers(struct walk *w); /* host/walk.c */
#else
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

/* Sets the registers, and the flags that say which of them are known. Returns 0, or the reason for
 * which there is no user stack. */
static __always_inline int user_registers(struct walk *w)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_arm64
	__u64 state = r->pstate;

	if (state & 15)
		return UNWIND_NO_USER + 1;
	if (state & 16)
		return UNWIND_COMPAT + 1;
	w->pc = r->pc;
	w->sp = r->sp;
	w->fp = r->regs[29];
	w->lr = r->regs[30];
	w->pc_mask = (1ULL << (unwind_config.address_bits & 63)) - 1;
	w->g = r->regs[28];
	w->regs[RULE_REG_X0] = r->regs[0];
	w->regs[RULE_REG_X1] = r->regs[1];
	w->regs[RULE_REG_R13] = r->regs[13];
#else
	__u16 cs = r->cs;

	if ((cs & 3) != 3)
		return UNWIND_NO_USER + 1;
	if (cs == 0x23)
		return UNWIND_COMPAT + 1;
	w->pc = r->ip;
	w->sp = r->sp;
	w->fp = r->bp;
	w->lr = 0;
	w->regs[RULE_REG_RAX] = r->ax;
	w->regs[RULE_REG_RDX] = r->dx;
	w->regs[RULE_REG_RCX] = r->cx;
	w->regs[RULE_REG_RBX] = r->bx;
	w->regs[RULE_REG_RSI] = r->si;
	w->regs[RULE_REG_RDI] = r->di;
	w->regs[RULE_REG_R8] = r->r8;
	w->regs[RULE_REG_R9] = r->r9;
	w->regs[RULE_REG_R10] = r->r10;
	w->regs[RULE_REG_R11] = r->r11;
	w->regs[RULE_REG_R12] = r->r12;
	w->regs[RULE_REG_R13] = r->r13;
	w->regs[RULE_REG_R14] = r->r14;
	w->regs[RULE_REG_R15] = r->r15;
#endif
	w->flags = WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR;
	walk_leave_copy(w);
	return 0;
}
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
	w->cached_span = 0;
	return 0;
}

/* Resets the state. The window, signal[] and the table's header may keep their values. Returns whether the mappings
 * are known from the last walk. */
static __always_inline int start(struct walk *w, struct stack_req *r, __u32 index)
{
	__u64 ids = current_ids();

	w->window_at = WINDOW_NONE;
	w->switches = 0;
	w->tid = ids;
	w->pid = ids >> 32;
	w->table_file = 0;
	w->hash = STACK_HASH_SEED;
	w->nr = 0;
	w->limit = r->limit > UNWIND_LIMIT_MAX ? UNWIND_LIMIT_MAX : r->limit;
	w->filter = r->filter;
	w->store = !r->len_only;
	w->store_mask = -w->store;
	if (w->store && w->limit > unwind_config.max_frames)
		w->limit = unwind_config.max_frames;
	w->end = w->cause = 0;
	w->slot = index;
	w->tp = 0;
	w->list_emitted = w->list_in = w->list_any = 0;
	__builtin_memset(&w->list, 0, sizeof(w->list));
	w->frame_lang = w->frame_begun = 0;
	__builtin_memset(w->frame_own, 0, sizeof(w->frame_own));
	w->first_sp = w->sp;
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
