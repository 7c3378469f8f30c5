/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* again.bpf.h - the functions that begin a walk, and those that begin it again. Part of walk.bpf.c. */
#pragma once
#include "start.bpf.h"

#ifndef STRATA_HOST
#ifndef __TARGET_ARCH_arm64
static __always_inline void copy_others(struct walk *w, const struct pt_regs *r)
{
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
}
#endif

__global int user_registers(struct walk *w)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

#ifdef __TARGET_ARCH_arm64
	__u64 state = r->pstate;

	if (!w || state & 15)
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
	w->regs[RULE_REG_X12] = r->regs[12];
	w->regs[RULE_REG_R13] = r->regs[13];
	w->regs[RULE_REG_X19] = r->regs[19];
	w->regs[RULE_REG_X20] = r->regs[20];
	w->regs[RULE_REG_X22] = r->regs[22];
#else
	__u16 cs = r->cs;

	if (!w || (cs & 3) != 3)
		return UNWIND_NO_USER + 1;
	if (cs == 0x23)
		return UNWIND_COMPAT + 1;
	w->pc = r->ip;
	w->sp = r->sp;
	w->fp = r->bp;
	w->lr = 0;
	copy_others(w, r);
#endif
	w->flags = WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR;
	walk_leave_copy(w);
	return 0;
}
#endif

__global int walk_reset(struct walk *w)
{
	if (!w)
		return 0;
	w->switches = 0;
	w->table_file = 0;
	w->hash = STACK_HASH_SEED;
	w->nr = 0;
	w->end = w->cause = 0;
	w->list_emitted = w->list_in = w->list_any = 0;
	__builtin_memset(&w->list, 0, sizeof(w->list));
	w->frame_lang = w->frame_begun = 0;
	__builtin_memset(w->frame_own, 0, sizeof(w->frame_own));
	w->first_sp = w->sp;
	w->first_pc = w->pc;
	return 0;
}

/* Begins the walk again, after it has ended, if the list has more or fewer activations than there are loops, and the
 * language has a guess: C and the language were calling each other. Only the whole walk shows the difference, because
 * loops and activations are paired from the innermost on. Returns 0, or -1 if the walk is not repeated. */
__global int walk_again(struct walk *w)
{
	__u32 guess;

	if (!w)
		return -1;
	guess = w->list.frame ? w->list.if_more : w->cause == UNWIND_UNATTACHED ? w->list.if_less : 0;
	if (!guess || w->list.guess || user_registers(w))
		return -1;
	w->pc -= w->back;
	walk_reset(w);
	w->list.guess = guess;
	return 0;
}
