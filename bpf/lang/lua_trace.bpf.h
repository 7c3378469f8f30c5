/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lua_trace.bpf.h - the functions that a trace of LuaJIT runs. Part of lua.bpf.c.
 *
 * Frames of functions that the trace has inlined are not in the Lua stack. A snapshot describes the frames that the
 * trace would write there if it were left: `slots` of functions and links, of which most are constants of the trace.
 * The code between two snapshots runs in the frames of one of them.
 *
 * luajit/src/lj_jit.h of 2.1.0-beta3 (git, March 2021 or later) to 2.1.1761786044: GCtrace, SnapShot, SnapEntry;
 * lj_snap.c, snapshot_slots() and snapshot_framelinks(); lj_ir.h, ir_k64(). */
#pragma once

/* GCtrace: nsnap (u16 in byte 10), ir 0x20, snap 0x30, snapmap 0x38, startpc 0x48, szmcode 0x54, mcode 0x58 */
#define TRACE_STARTPC 0x48
#define TRACE_BYTES   0x60
#define SNAPSHOTS_MAX 1024 /* 500, unless the program raises maxsnap */
#define SNAPSHOT_STEPS 11

/* SnapEntry: slot << 24 | flags | reference. References below REF_BIAS are constants: the value follows the head. */
#define SNAP_FRAMES 0x030000 /* SNAP_FRAME | SNAP_CONT */
#define REF_BIAS    0x8000
#define REF_MAX     0xffff
#define FUNCTION_UNKNOWN 8 /* an address that cannot be read */
#define BETWEEN_MAX 128 /* instructions of a function between two snapshots */
/* luajit/src/lj_bc.h: calls, returns */
#define BC_CALLM 65
#define BC_ITERN 70
#define BC_RETM  73
#define BC_RET1  76
#define PROTO_STEPS 64 /* instructions of a trace between a closure and the check of its code */

struct snapshot {
	__u32 map; /* index of its first entry */
	__u16 ref, code; /* offset of the code behind it */
	__u8 nslots, top, nentries, count;
};
_Static_assert(sizeof(struct snapshot) == 12, "SnapShot");

struct snapshot_search {
	__u64 snapshots;
	__u32 low, high, code;
};

/* Halves the snapshots among which is the last one at or before the code. Returns 1 at the end of the search. */
__round int lua_halve_snapshots(struct snapshot_search *s)
{
	struct snapshot snap = {};
	__u32 middle;

	if (LACKS(s))
		return 1;
	middle = (s->low + s->high) / 2;
	if (s->high - s->low < 2 ||
		bpf_probe_read_user(&snap, sizeof(snap), (const void *)(s->snapshots + middle * sizeof(snap))))
		return 1;
	if (snap.code <= s->code)
		s->low = middle;
	else
		s->high = middle;
	return 0;
}

static long search_snapshot(__u32 i, void *data)
{
	return lua_halve_snapshots(data);
}

static __always_inline void keep_slot(struct lua_scratch *s, __u32 entry)
{
	__u32 slot = entry >> 24 & (SLOTS - 1), ref = entry & 0xffff;
	__u64 value = ref;

	if (ref < REF_BIAS && read_word(s->own.slots.ir + 8 * (ref + 1ULL), &value))
		value = 0;
	s->own.slots.value[slot] = value;
	s->own.slots.walk[slot] = s->walk;
}

/* Keeps an entry's slot, and the one before, if they have functions, links or continuations: one with a link follows
 * one with a function. The first may be a function by which a tail call replaced the trace's own. Returns 0. A function
 * of its own, so that the verifier of kernels without bpf_loop() follows its branches once and not in each round. */
__global int take_slots(struct lua_scratch *s, __u32 before, __u32 entry)
{
	if (!s)
		return 0;
	if ((entry & SNAP_FRAMES) && (before >> 24) + 1 == entry >> 24)
		keep_slot(s, before);
	if ((entry & SNAP_FRAMES) || entry >> 24 == 0)
		keep_slot(s, entry);
	return 0;
}

struct slot_reader {
	struct lua_scratch *s;
	__u32 before; /* the entry before */
};

static long read_slot(__u32 i, void *data)
{
	struct slot_reader *r = data;
	__u32 entry = (__u32)load(r->s->out.lines, 4ULL * i, LUA_LINES_MAX - 1);

	take_slots(r->s, r->before, entry);
	r->before = entry;
	return 0;
}

/* Reads a snapshot's last word: pc << 8 | the number of slots below the newest base. 0: unreadable. */
static __always_inline __u64 snapshot_end(__u64 map, const struct snapshot *snap)
{
	__u64 word = 0;

	read_word(map + 4 * ((__u64)snap->map + snap->nentries), &word);
	return word;
}

/* Finds the snapshot that has the frames of w->lookup, in the trace whose head is in s->code. Puts its slots into
 * s->own. Returns its last word; 0: unknown.
 *
 * Snapshots follow a call of C, so a return address has the frames of the next one. Otherwise the code after a snapshot
 * has its frames, unless the next one has more: a call begins without a snapshot. */
__global __u64 find_snapshot(struct walk *w, struct lua_scratch *s)
{
	struct snapshot_search search = {};
	struct slot_reader reader = { s };
	struct snapshot snaps[2] = {};
	__u64 end, next = 0, *trace;
	__u32 n, size;

	if (!w || !s)
		return 0;
	trace = s->code;
	if (w->lookup - trace[11] >= trace[10] >> 32)
		return 0;
	n = (__u32)(trace[1] >> 16 & 0xffff);
	if (!n || n > SNAPSHOTS_MAX)
		return 0;
	search = (struct snapshot_search){ trace[6], 0, n, (__u32)(w->lookup - trace[11]) };
	s->own.slots.ir = trace[4];
	s->own.slots.start = trace[8];
	bpf_loop(SNAPSHOT_STEPS, search_snapshot, &search, 0);
	size = search.low + 1 < n ? sizeof(snaps) : sizeof(snaps[0]);
	if (bpf_probe_read_user(snaps, size, (const void *)(search.snapshots + search.low * sizeof(snaps[0]))))
		return 0;
	end = snapshot_end(trace[7], &snaps[0]);
	if (size == sizeof(snaps))
		next = snapshot_end(trace[7], &snaps[1]);
	s->own.slots.first = end;
	s->own.slots.second = next;
	if (next && (!(w->flags & WALK_EXACT) || (next & 0xff) > (end & 0xff))) {
		end = next;
		snaps[0] = snaps[1];
	} else if (end) {
		end += 4 << 8; /* its instruction runs */
	}
	if (bpf_probe_read_user(s->out.lines, 4 * snaps[0].nentries,
		(const void *)(trace[7] + 4 * (__u64)snaps[0].map)))
		return 0;
	bpf_loop(snaps[0].nentries, read_slot, &reader, 0);
	return end;
}

/* Reads the head of the trace that runs to s->code. Returns 0 on success, -1 on failure, or 1 if the trace is unknown
 * because it has called the garbage collector. */
__global int read_trace(struct lua_scratch *s, __u64 global)
{
	__u64 number = 0, traces = 0, trace = 0;

	if (!s || s->proc.startpc != TRACE_STARTPC || read_word(global + GLOBAL_VMSTATE, &number) ||
		read_word(global + s->proc.traces, &traces))
		return -1;
	number = (__u32)number;
	s->own.code = 0;
	if (number - 1 >= TRACES_MAX)
		return 1;
	if (read_word(traces + 8 * number, &trace) || bpf_probe_read_user(s->code, TRACE_BYTES, (const void *)trace))
		return -1;
	return 0;
}

/* Reads a word of the Lua stack, or of the frames of a trace that are not there yet. Returns 0 on success. */
static __always_inline int jit_word(struct walk *w, struct lua_scratch *s, __u64 addr, __u64 *ret)
{
	const struct trace_slots *t = &s->own.slots;
	__u64 slot = (addr - (t->base - 16)) / 8;
	__s64 o;

	if (t->base && slot < SLOTS) {
		FORGET(slot);
		*ret = t->value[slot & (SLOTS - 1)];
		if (t->walk[slot & (SLOTS - 1)] == s->walk)
			return 0;
		*ret = 0;
		if (slot > 1)
			return 0;
	}
	o = addr & 7 ? -1 : frame_at(w, s, addr);
	if (o < 0)
		return -1;
	*ret = frame_word(s, o);
	return 0;
}

/* Returns whether a slot's function is not a constant, but made by an instruction of the trace. */
static __always_inline int is_reference(__u64 function)
{
	return function >= REF_BIAS && function <= REF_MAX;
}

struct proto_search {
	__u64 ir, proto;
	__u32 function, pc; /* instructions that make these values; 0: not found yet */
	__u32 at;
};

/* If a closure is not a constant, the trace checks that its code is that of a GCproto: FLOAD closure func.pc; EQ pc
 * code. lj_record.c, rec_call_specialize(). Returns 1 at the end of the search. */
__round int lua_next_instruction(struct proto_search *s)
{
	__u64 instruction = 0, code = 0;
	__u32 left, right;

	if (LACKS(s))
		return 1;
	s->at++;
	if (read_word(s->ir + 8ULL * s->at, &instruction))
		return 1;
	left = instruction & 0xffff;
	right = instruction >> 16 & 0xffff;
	if (left == s->function && !s->pc)
		s->pc = s->at;
	if (!s->pc || left != s->pc || right >= REF_BIAS || read_word(s->ir + 8 * (right + 1ULL), &code))
		return 0;
	s->proto = code - JIT_PROTO;
	return 1;
}

static long search_proto(__u32 i, void *data)
{
	return lua_next_instruction(data);
}

/* Returns the code of the closure that an instruction of the trace makes: a GCproto; or, if a trace before this one has
 * checked it, the one where this trace begins, if pc is in it; or FUNCTION_UNKNOWN. */
__global __u64 trace_proto(struct lua_scratch *s, __u32 instruction, __u64 pc)
{
	struct proto_search search = {};
	__u64 word = 0, start;

	if (!s)
		return FUNCTION_UNKNOWN;
	search.ir = s->own.slots.ir;
	search.function = search.at = instruction;
	bpf_loop(PROTO_STEPS, search_proto, &search, 0);
	if (search.proto && !read_word(search.proto + 8, &word) && (word >> 8 & 0xff) == JIT_CODE)
		return search.proto;
	start = s->own.slots.start;
	if (read_word(start + JIT_SIZE, &word) || pc - (start + JIT_PROTO) - 1 >= 4 * (word >> 32))
		return FUNCTION_UNKNOWN;
	return start;
}

struct call_search {
	struct lua_scratch *s;
	__u32 to_return, end; /* a CODE_ constant */
};

enum { CODE_GOES_ON, CODE_CALLS, CODE_RETURNS };

/* Returns what an instruction of s->out.lines does. */
__round __u32 lua_code_does(struct lua_scratch *s, __u32 i)
{
	__u8 op;

	if (LACKS(s))
		return CODE_GOES_ON;
	op = (__u8)load(s->out.lines, 4ULL * i, LUA_LINES_MAX - 1);
	if (op >= BC_CALLM && op <= BC_ITERN)
		return CODE_CALLS;
	return op >= BC_RETM && op <= BC_RET1 ? CODE_RETURNS : CODE_GOES_ON;
}

static long search_call(__u32 i, void *data)
{
	struct call_search *c = data;

	c->end = lua_code_does(c->s, i);
	return c->end == CODE_CALLS || (c->to_return && (c->end == CODE_RETURNS || i == BETWEEN_MAX - 1));
}

/* Returns whether there may be a call in the code from one instruction up to another one; 0: up to a return. */
__global int has_call(struct lua_scratch *s, __u64 from, __u64 to)
{
	__u64 n = to ? (to - from) / 4 : BETWEEN_MAX;
	struct call_search search = { s, !to };

	if (!s || n > BETWEEN_MAX || bpf_probe_read_user(s->out.lines, 4 * n, (const void *)from))
		return 1;
	bpf_loop((__u32)n, search_call, &search, 0);
	return search.end == CODE_CALLS;
}

/* Returns LUA_HIDES if a function may have been called and have returned between two snapshots, whose last words these
 * are, else 0. It cannot if straight code leads from one to the other without other calls: in one function, into one
 * or out of one. The slots are those of the snapshot with more frames. */
__global __u32 hides_call(struct lua_scratch *s, __u64 first, __u64 second)
{
	__u64 from = first >> 8, to = second >> 8, inner, function, link, start = 0;
	int is_call = (first & 0xff) < (second & 0xff);

	if (!s || !second)
		return 0;
	if ((first & 0xff) == (second & 0xff))
		return has_call(s, from, to) ? LUA_HIDES : 0;
	inner = is_call ? second & 0xff : first & 0xff;
	function = s->own.slots.value[inner & (SLOTS - 1)];
	link = s->own.slots.value[(inner + 1) & (SLOTS - 1)];
	if ((link & LINK_TYPE) != LINK_LUA)
		return LUA_HIDES;
	if (!is_call)
		return has_call(s, from, 0) || has_call(s, link, to) ? LUA_HIDES : 0;
	if (function <= REF_MAX)
		start = trace_proto(s, (__u32)function, to) + JIT_PROTO;
	else
		read_word((function & VALUE_MASK) + FUNC_PC, &start);
	return has_call(s, from, link - 4) || has_call(s, start, to) ? LUA_HIDES : 0;
}

static __always_inline int has_function(__u64 base, __u64 function)
{
	__u64 found = 0;

	return !read_word(base - 16, &found) && !((found ^ function) & VALUE_MASK);
}

/* A trace that ends in another one, or returns below the frame with which it began, changes jit_base before or
 * after its code is that of another snapshot (lj_asm.c, asm_tail_link(); lj_asm_x86.h, asm_retf()). Returns the
 * base that the snapshot means, whose last word is end: the frame there has the snapshot's function. */
__global __u64 snapshot_base(struct lua_scratch *s, __u64 base, __u64 end)
{
	__u64 function, lower = base - 8 * (end & 0xff), link = 0, called = 0;

	if (!s || s->own.slots.walk[0] != s->walk)
		return base;
	function = s->own.slots.value[0];
	if (function <= REF_MAX || has_function(base, function))
		return base;
	if (has_function(lower, function))
		return lower;
	if (read_word(base - 8, &link) || (link & LINK_TYPE) != LINK_LUA || read_word(link - 4, &called))
		return base;
	lower = base - 8 * (2 + (called >> 8 & 0xff));
	return has_function(lower, function) ? lower : base;
}

/* Returns the base of the newest frame of the trace that runs, 0 if it is unknown. base: the one with which the trace
 * began. Sets the pc. */
static __always_inline __u64 trace_base(struct walk *w, struct lua_scratch *s, __u64 state, __u64 base)
{
	__u64 global = 0, end;
	int unknown;

	if (read_word(state + STATE_GLOBAL, &global))
		return 0;
	unknown = read_trace(s, global);
	if (unknown) {
		place_of(w)->own.pc = 0;
		s->own.slots.hides = LUA_HIDES;
		return unknown > 0 ? base : 0;
	}
	end = find_snapshot(w, s);
	if (!end)
		return 0;
	base = snapshot_base(s, base, end);
	s->own.slots.base = base;
	s->own.slots.top = end & 0xff;
	s->own.slots.hides = hides_call(s, s->own.slots.first, s->own.slots.second);
	place_of(w)->own.pc = end >> 8;
	return base + 8 * (end & 0xff);
}
