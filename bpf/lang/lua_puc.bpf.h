/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lua_puc.bpf.h - the list of frames of PUC's Lua: CallInfo, from the newest to the oldest. Part of lua.bpf.c.
 *
 * luaV_execute() saves the registers of its callers, which keep the lua_State in one of them: luaD_call(), resume(),
 * unroll() and lua_resume() read it after the call. */
#pragma once

/* lua_State: ci */
#define STATE_CI 0x20

/* CallInfo: func (a slot), previous, next */
#define CI_FUNC     0
#define CI_PREVIOUS 0x10
#define CI_NEXT     0x18

/* A slot: value, type (a byte). LClosure: p; CClosure: f. The bit of types that are collectable is 0x40. */
#define TYPE_LUA     0x46
#define TYPE_C_LIGHT 0x16
#define TYPE_C       0x66
#define CLOSURE_CODE 0x18

#define SAVED_REGS 6
#define SAVED_REGS_ARM64 10 /* x19 to x28, above the frame record */

/* Returns whether it is the address of a lua_State. */
static __always_inline int is_state(__u64 addr)
{
	__u64 type = 0;

	return addr && !(addr & 7) && !read_word(addr + 8, &type) && (type & 0xff) == PUC_THREAD;
}

/* Returns register i of the loop's caller if it is a lua_State, else 0. The frame's word for it, at the address `at`,
 * is value. In the prologue the loop has not pushed all registers, and in the epilogue it has popped some: these words
 * are below sp, and may be of an earlier call. The registers themselves have the caller's values then. */
__global __u64 puc_saved(struct walk *w, __u64 value, __u64 at, __u32 i)
{
	const __u32 known = WALK_EXACT | WALK_REGS;

	if (!w)
		return 0;
	if (!WALK_ARM64(w) && at < w->sp) {
		FORGET(i);
		value = (w->flags & known) != known ? 0 : i == 0 ? w->regs[RULE_REG_RBX] : i == 1 ? w->fp :
			w->regs[(RULE_REG_R12 + i - 2) & 15];
	}
	return is_state(value) ? value : 0;
}

/* Returns the lua_State of the loop's frame: a register that the frame has saved, the last one that it pushed (arm64:
 * the lowest one) first; or 0 if there is none. */
__global __u64 puc_state(struct walk *w)
{
	const int n = WALK_ARM64(w) ? SAVED_REGS_ARM64 : SAVED_REGS;
	__u64 saved[SAVED_REGS_ARM64] = {}, at, state;

	if (!w || RULE_KIND(w->rule) != RULE_CFA)
		return 0;
	if (WALK_ARM64(w))
		at = w->fp + 16;
	else
		at = (RULE_REG(w->rule) == RULE_REG_FP ? w->fp : w->sp) + cfa_offset(w->rule) - 8 - 8 * n;
	if (bpf_probe_read_user(saved, 8 * n, (const void *)at))
		return 0;
	for (int i = 0; i < n; i++) {
		state = puc_saved(w, saved[i], at + 8 * i, i);
		if (state)
			return state;
	}
	return 0;
}

/* Returns whether a register that calls preserve is the CallInfo. */
static __always_inline int in_register(const struct walk *w, __u64 info)
{
	return w->regs[RULE_REG_RBX] == info || w->fp == info || w->regs[RULE_REG_R12] == info ||
	       w->regs[RULE_REG_R13] == info || w->regs[RULE_REG_R14] == info || w->regs[RULE_REG_R15] == info;
}

/* Returns whether the loop is about to return: its last frame has left the list. Its CallInfo stays the next one of the
 * newest, and is still in a register. */
static __always_inline int puc_has_left(struct walk *w, const struct lua_scratch *s, __u64 newest)
{
	__u32 known = WALK_EXACT | WALK_REGS;
	__u64 next = 0, status = 0;

	if (WALK_ARM64(w) || (w->flags & known) != known || read_word(newest + CI_NEXT, &next) || !next ||
		!in_register(w, next) || read_word(next + (s->proc.at.status & ~7), &status))
		return 0;
	return !!(status >> (s->proc.at.status & 7) * 8 & s->proc.at.fresh);
}

/* Sets the place to the newest frame of a lua_State. Returns 0 on success, -1 on failure. */
static __always_inline int puc_start(struct walk *w, struct lua_scratch *s, __u64 state)
{
	struct lua_place *p = &place_of(w)->own;

	p->state = state;
	p->after = 0;
	s->own.sure = 0;
	if (read_word(state + STATE_CI, &w->list.frame))
		return -1;
	w->list.ended = puc_has_left(w, s, w->list.frame);
	return 0;
}

/* Begins the activation of this loop. After an error in a coroutine, unroll() runs the newest function in Lua; the
 * functions below it have no loop, and come first. Returns 0 on success, -1 on failure. */
static __always_inline int puc_enter(struct walk *w, struct lua_scratch *s)
{
	struct lua_place *p = &place_of(w)->own;
	__u64 state = puc_state(w);

	if (!state)
		return -1;
	w->list.frame = p->next;
	if (state == p->state)
		return 0;
	if (!p->next)
		return puc_start(w, s, state);
	p->after = state;
	return 0;
}

/* Reads the slot of a function, and those below it, which the frames before have. Returns 0 on success. */
__global int puc_read_slots(struct lua_scratch *s, __u64 slot)
{
	__u64 start = slot & ~(WINDOW - 1ULL), end = slot + 16;
	struct puc_stack *stack;

	if (!s)
		return -1;
	stack = &s->own.stack;
	if (end - start > STACK_BYTES)
		start = end - STACK_BYTES;
	stack->size = 0;
	if (bpf_probe_read_user(stack->slot, (end - start) & (2 * STACK_BYTES - 1), (const void *)start))
		return -1;
	stack->at = start;
	stack->size = end - start;
	return 0;
}

/* Returns the code of a function for lua_code(), or 0 if there is none. */
static __always_inline __u64 puc_code(__u64 value, __u32 type)
{
	__u64 code = 0;

	if (type == TYPE_C_LIGHT)
		return CODE_C(value);
	if ((type != TYPE_LUA && type != TYPE_C) || read_word(value + CLOSURE_CODE, &code) || !code)
		return 0;
	return type == TYPE_C ? CODE_C(code) : code;
}

/* Returns the frame of the function in a slot, or 0 if there is none. */
static __always_inline __u64 puc_frame(struct walk *w, struct lua_scratch *s, __u64 slot, __u64 pc)
{
	const struct puc_stack *stack = &s->own.stack;
	__u64 at, value, code;
	__u32 type;

	if ((slot & 7) || ((slot - stack->at > stack->size - 16 || !stack->size) && puc_read_slots(s, slot)))
		return 0;
	at = slot - stack->at;
	value = load_word(stack->slot, at, STACK_BYTES - 1);
	type = load_word(stack->slot, at + 8, STACK_BYTES - 1) & 0xff;
	if (type == TYPE_LUA && lua_known(w, s, value, pc))
		return frame_of_memo(this_memo(s), pc);
	code = puc_code(value, type);
	return code ? frame_of(w, s, code, type == TYPE_LUA ? value : 0, pc) : 0;
}

/* Takes a frame. Returns 1 if its function is in Lua, 2 if it is not, or -1 on failure. */
static __always_inline int puc_take(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	const struct lua_layout *at = &s->proc.at;
	__s64 o = w->list.frame & 7 ? -1 : frame_at(w, s, w->list.frame);
	__u64 slot, status, pc;
	int is_lua;

	if (o < 0)
		return -1;
	status = frame_load(s, o + at->status);
	pc = frame_word(s, o + at->savedpc);
	slot = frame_word(s, o + CI_FUNC);
	w->list.frame = frame_word(s, o + CI_PREVIOUS);
	is_lua = (status & 2) == at->is_lua;
	if (!is_lua)
		pc = 0;
	else if (!place_of(w)->own.after)
		w->list.ended = !!(status & at->fresh);
	*frame = puc_frame(w, s, slot, pc);
	s->own.sure = 1;
	if (place_of(w)->own.after && !w->list.frame && puc_start(w, s, place_of(w)->own.after))
		return -1;
	return is_lua ? 1 : 2;
}
