/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lua_jit.bpf.h - LuaJIT's frames: two slots before the base of a function, the function and the link to the previous
 * frame. Part of lua.bpf.c.
 *
 * The interpreter is one function in assembler, the VM, whose C frame has a fixed size on x86_64. Compiled code, a
 * trace, runs in that frame and may extend it. */
#pragma once

/* luajit/src/lj_frame.h of 2.1.1761786044, the C frame from sp on: CFRAME_OFS_L, CFRAME_OFS_PC, CFRAME_SIZE, the saved
 * rbp in words from the CFA */
#define CFRAME_L    16
#define CFRAME_PC   24
#define CFRAME_SIZE 80
#define CFRAME_FP   (-2)
#define SPREAD_MAX  768 /* bytes by which a trace, and the registers saved when it is left, extend the frame */
#define TRACES_MAX  65535

/* lua_State: glref, base, maxstack, stack */
#define STATE_GLOBAL 0x10
#define STATE_BASE   0x20
#define STATE_MAX    0x30
#define STATE_STACK  0x38

/* global_State: vmstate (s32: the number of the trace that runs, or ~LJ_VMST_*: lj_obj.h) */
#define GLOBAL_VMSTATE 0xb8
#define VMSTATE_GC   2 /* smaller ones: the interpreter, C */
#define VMSTATE_EXIT 3 /* to VMSTATE_ASM: a trace is left, and perhaps another one is made */
#define VMSTATE_ASM  6

/* Values have 47 bits, the type above them. GCfunc: gct; ffid (byte 10; 0: in Lua, 1: in C, above: a builtin); pc,
 * behind the GCproto; f, of functions in C */
#define VALUE_MASK ((1ULL << 47) - 1)
#define VALUE_FUNCTION (~8ULL << 47)
#define FUNC_PC    0x20
#define FUNC_C     0x28

/* Links: FRAME_*. The low two bits, or three. */
#define LINK_LUA  0
#define LINK_C    1
#define LINK_CONT 2
#define LINK_VARARG 3
#define LINK_TYPE  3
#define LINK_TYPEP 7

static __always_inline int jit_is_state(__u64 addr)
{
	__u64 type = 0;

	return addr && !(addr & 7) && !read_word(addr + 8, &type) && (type >> 8 & 0xff) == JIT_THREAD;
}

struct trace_search {
	__u64 at; /* of the next place in which the VM's frame may begin */
	__u64 state, call;
};

static long try_frame(__u32 i, void *data)
{
	struct trace_search *s = data;
	__u64 at = s->at, ra = 0;

	s->at = at + 16;
	s->state = s->call = 0;
	if (read_word(at + CFRAME_L, &s->state) || read_word(at + CFRAME_SIZE - 8, &ra))
		return 1;
	if (jit_is_state(s->state) && !read_word(ra - 8, &s->call) && X86_IS_CALL(s->call))
		return 1;
	s->call = 0;
	return 0;
}

/* Returns the rule of a frame that has the lua_State and the return address at the VM's places, above its own words; 0:
 * there is none. */
__global __u64 jit_spread_rule(struct walk *w)
{
	struct trace_search s = {};

	if (!w || WALK_ARM64(w))
		return 0;
	s.at = w->sp;
	bpf_loop(SPREAD_MAX / 16, try_frame, &s, 0);
	return s.call ? RULE(RULE_CFA, RULE_REG_SP, 0, CFRAME_FP, CFRAME_SIZE + (s.at - 16 - w->sp)) : 0;
}

/* Returns the rule of a trace. */
__global __u64 lua_compiled(struct walk *w)
{
	__u32 pid = w ? w->pid : 0;
	struct lua_proc *p = bpf_map_lookup_elem(&lua_procs, &pid);

	return w && p && p->kind == LUA_JIT ? jit_spread_rule(w) : 0;
}

#include "lua_trace.bpf.h"

static __always_inline int jit_has_function(__u64 base)
{
	__u64 word = 0;

	return !(base & 7) && !read_word(base - 16, &word) && (word & ~VALUE_MASK) == VALUE_FUNCTION;
}

static __always_inline int is_base_in_pc(struct walk *w, __u64 low, __u64 high)
{
	return w->regs[RULE_REG_RBX] > low && w->regs[RULE_REG_RBX] <= high;
}

/* A function that returns writes its results over its frame, whose base is in rdx. The link is in rbx then; where C
 * gets the results, the frame's size, and afterwards the base of the function that called C: the activation has no more
 * frames. Returns the base of the frame before; 0: nothing returns. */
__global __u64 jit_returned(struct walk *w, struct lua_scratch *s, __u64 low, __u64 high)
{
	__u64 link, size, word = 0;

	if (!w || !s)
		return 0;
	link = w->regs[RULE_REG_RBX];
	place_of(w)->own.pc = 0;
	if (is_base_in_pc(w, low, high)) {
		w->list.ended = jit_has_function(link);
		return w->list.ended ? link : 0;
	}
	size = link & ~7ULL;
	if (link > high - low && (link & LINK_TYPE) == LINK_LUA) {
		if (read_word(link - 4, &word) || (word & 0xff) < BC_CALLM || (word & 0xff) > BC_ITERN)
			return 0;
		size = 8 * (2 + (word >> 8 & 0xff));
		place_of(w)->own.pc = link;
	}
	if (!size || size > high - low || !jit_has_function(w->regs[RULE_REG_RDX] - size))
		return 0;
	w->list.ended = link <= high - low && (link & LINK_TYPE) <= LINK_C;
	return w->regs[RULE_REG_RDX] - size;
}

/* Returns the base of the newest frame; 0: it is unreadable. In a trace it is that with which the trace began. The VM
 * has it in rdx (BASE), and the instruction in rbx (PC), also while a function without a frame runs. */
__global __u64 jit_base(struct walk *w, struct lua_scratch *s, __u64 state)
{
	__u64 words[STATE_STACK / 8 + 1] = {}, base, low, value = 0;
	__u32 known = WALK_EXACT | WALK_REGS;

	if (!w || !s || bpf_probe_read_user(words, sizeof(words), (const void *)state))
		return 0;
	base = words[STATE_BASE / 8];
	if (w->map.flags & MAPPING_ANON) {
		if (read_word(words[STATE_GLOBAL / 8] + s->proc.jit_base, &value))
			return 0;
		return value ? value : base;
	}
	if (WALK_ARM64(w) || ((w->flags & known) != known && w->sp != place_of(w)->own.leaf))
		return base;
	value = w->regs[RULE_REG_RDX];
	low = words[STATE_STACK / 8] + 8;
	if (value <= low || value > words[STATE_MAX / 8])
		return base;
	if (!is_base_in_pc(w, low, words[STATE_MAX / 8]) && jit_has_function(value)) {
		place_of(w)->own.pc = w->regs[RULE_REG_RBX];
		return value;
	}
	value = jit_returned(w, s, low, words[STATE_MAX / 8]);
	return value ? value : base;
}

/* Returns the state of the VM: VMSTATE_; VMSTATE_EXIT where a trace runs; 0: it is unreadable. */
static __always_inline __u32 jit_vmstate(__u64 global)
{
	__u64 word = 0;

	if (read_word(global + GLOBAL_VMSTATE, &word))
		return 0;
	return (__s32)word > 0 ? VMSTATE_EXIT : ~(__u32)word;
}

/* While a trace is left, its frame holds the registers that vm_exit_handler saves, so the VM's rule is wrong. The stack
 * of the state lacks frames until they are made from a snapshot: the newest one hides them, and its line is not known.
 * Then the garbage collector may run, and the C frame has the instruction that comes next. In other states C enters the
 * VM: the frames above would be those of another call. Begins the activation of such a frame. Returns 0 on success, -1
 * on failure. */
__global int jit_leave(struct walk *w, struct lua_scratch *s)
{
	__u64 rule = w && s && !(w->map.flags & MAPPING_ANON) ? jit_spread_rule(w) : 0;
	__u64 state = 0, base = 0, global = 0, pc = 0, frame;
	struct lua_place *p;
	__u32 vm;

	if (!rule || !s || !w)
		return -1;
	p = &place_of(w)->own;
	frame = w->sp + cfa_offset(rule) - CFRAME_SIZE;
	if (read_word(frame + CFRAME_L, &state) || read_word(state + STATE_GLOBAL, &global))
		return -1;
	vm = jit_vmstate(global);
	if (vm < VMSTATE_GC || vm > VMSTATE_ASM || (vm == VMSTATE_GC && w->flags & WALK_EXACT))
		return -1;
	if (read_word(frame + CFRAME_PC, &pc) || read_word(global + s->proc.jit_base, &base) ||
		(!base && read_word(state + STATE_BASE, &base)))
		return -1;
	w->rule = rule;
	p->pc = vm == VMSTATE_GC ? pc + 4 : 0;
	w->list.frame = p->next;
	if (state == p->state)
		return 0;
	p->state = state;
	w->list.frame = base - 8;
	s->own.slots.base = 0;
	s->own.slots.hides = vm == VMSTATE_GC ? 0 : LUA_HIDES;
	return 0;
}

/* Begins the activation of this frame of the VM, or of a trace. It has none while the VM is entered or left. Returns 0
 * on success, -1 on failure. */
static __always_inline int jit_enter(struct walk *w, struct lua_scratch *s)
{
	struct lua_place *p = &place_of(w)->own;
	__u64 frame = w->sp + cfa_offset(w->rule) - CFRAME_SIZE, state = 0, base;

	if (cfa_offset(w->rule) < CFRAME_SIZE) {
		p->leaf = w->sp == w->first_sp ? w->sp + 8 : 0;
		return 0;
	}
	if (read_word(frame + CFRAME_L, &state) || !jit_is_state(state) || read_word(frame + CFRAME_PC, &p->pc))
		return !jit_leave(w, s) || (w->flags & WALK_EXACT) ? 0 : -1;
	w->list.frame = p->next;
	if (state == p->state)
		return 0;
	base = jit_base(w, s, state);
	if (base && (w->map.flags & MAPPING_ANON))
		base = trace_base(w, s, state, base);
	if (!base)
		return -1;
	p->state = state;
	w->list.frame = base - 8;
	return 0;
}

/* Returns the code of a function for lua_code(): a GCproto; CODE_C() of a function in C, or of a builtin's number; or 0
 * if it is not a function. */
__global __u64 jit_code(__u64 function)
{
	__u64 words[5] = {}, number, called = 0;

	if ((function & 7) || bpf_probe_read_user(words, sizeof(words), (const void *)function) ||
		(words[1] >> 8 & 0xff) != JIT_FUNCTION)
		return 0;
	number = words[1] >> 16 & 0xff;
	if (!number)
		return words[FUNC_PC / 8] - JIT_PROTO;
	if (number > 1)
		return CODE_C(number);
	read_word(function + FUNC_C, &called);
	return CODE_C(called);
}

/* Reads the instruction before link, a call, together with the head of its GCproto, which is the next one to be read.
 * The memo of that is the last one, or the one after it, if an earlier walk met them in this order. Returns 0 on
 * success. */
__global int jit_read_call(struct walk *w, struct lua_scratch *s, __u64 link, __u64 *ret)
{
	const struct list_memo *m;
	__u64 size;
	__u32 k, n;

	if (!w || !s || !ret)
		return -1;
	k = s->at;
	m = &s->memo[k & (MEMO - 1)];
	k += link - m->start > 4 * m->size;
	FORGET(k);
	m = &s->memo[k & (MEMO - 1)];
	size = link - m->addr;
	n = size < CODE_BYTES_READ ? CODE_BYTES_READ : (__u32)size;
	FORGET(n); /* else clang knows it to be small, and the verifier does not */
	if (m->pid != w->pid || size - JIT_PROTO - 4 >= CODE_BYTES - JIT_PROTO - 4 ||
		read_code(s, m->addr, n & (CODE_BYTES - 1)))
		return read_word(link - 4, ret);
	*ret = (__u32)code_load(s, size - 4);
	return 0;
}

/* Sets the place to the frame before the one at link's address. Returns 0 on success, -1 on failure. */
static __always_inline int jit_previous(struct walk *w, struct lua_scratch *s, __u64 link)
{
	struct lua_place *p = &place_of(w)->own;
	__u64 at = w->list.frame, size = link & ~7ULL, word = 0;

	if ((link & LINK_TYPEP) != LINK_VARARG)
		s->own.sure = (link & LINK_TYPE) == LINK_LUA;
	if ((link & LINK_TYPE) == LINK_LUA) {
		if (jit_read_call(w, s, link, &word))
			return -1;
		size = 8 * (2 + (word >> 8 & 0xff));
		p->pc = link;
	} else if ((link & LINK_TYPEP) == LINK_CONT) {
		p->pc = 0;
		jit_word(w, s, at - 16, &p->pc);
	} else if ((link & LINK_TYPEP) != LINK_VARARG) {
		p->pc = 0;
	}
	if (!size || size > at)
		return -1;
	w->list.frame = at - size;
	return 0;
}

/* Sets *frame to the one of a function. Returns 0 on success, -1 if it is not one. */
static __always_inline int jit_frame(struct walk *w, struct lua_scratch *s, __u64 function, __u64 *frame)
{
	__u64 pc = place_of(w)->own.pc, code;

	if (!is_reference(function) && lua_known(w, s, function, pc)) {
		*frame = frame_of_memo(this_memo(s), pc);
	} else {
		code = is_reference(function) ? trace_proto(s, (__u32)function, pc) : jit_code(function);
		if (!code)
			return -1;
		*frame = frame_of(w, s, code, code & 1 || is_reference(function) ? 0 : function, pc);
	}
	*frame |= s->own.slots.hides;
	s->own.slots.hides = 0;
	return 0;
}

/* The frame at a trace's base calls the frames that the trace has inlined: its function has the call's instruction. If
 * it has not, the trace has just moved its base to the newest of them, to go on in another trace. A snapshot that has
 * the function at its base needs no such check: see snapshot_base(). Moves the base back, once, and returns whether it
 * has moved it; otherwise a frame without that instruction is marked. */
__global int jit_moves_base(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	struct trace_slots *t;
	const struct list_memo *m;
	__u64 pc;

	if (!w || !s || !frame)
		return 0;
	t = &s->own.slots;
	m = this_memo(s);
	pc = place_of(w)->own.pc;
	if ((m->addr & 1) || !m->start || !pc || pc - m->start <= 4 * m->size)
		return 0;
	if (!t->top) {
		*frame |= LUA_HIDES;
		return 0;
	}
	*frame = 0;
	t->base -= 8ULL * t->top;
	t->top = 0;
	w->list.frame = t->base - 8;
	return 1;
}

/* Takes a frame. Returns 1, 0 at the end of the list, or -1 on failure. */
static __always_inline int jit_take(struct walk *w, struct lua_scratch *s, __u64 *frame)
{
	struct lua_place *p = &place_of(w)->own;
	__u64 function = 0, link = 0;
	int is_function;

	if (jit_word(w, s, w->list.frame - 8, &function) || jit_word(w, s, w->list.frame, &link))
		return -1;
	is_function = (function & ~VALUE_MASK) == VALUE_FUNCTION;
	function &= VALUE_MASK;
	if (function == p->state) {
		w->list.frame = 0;
		return 0;
	}
	/* A function with variable arguments has two frames. A builtin that returns writes its result over itself. */
	if ((link & LINK_TYPEP) != LINK_VARARG && jit_frame(w, s, function, frame) &&
		(is_function || p->inside > 1 || s->own.slots.base))
		return -1;
	if (p->inside > 1 && s->own.slots.base && w->list.frame == s->own.slots.base - 8 && jit_moves_base(w, s, frame))
		return 1;
	p->inside = 2;
	if (jit_previous(w, s, link))
		return -1;
	w->list.ended = (link & LINK_TYPE) == LINK_C;
	return 1;
}
