// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* beam.bpf.c - the kernel half of src/unwinders/beam/: Erlang's frames.
 *
 * The caller of Erlang code is the next return address on the process's stack. The last word of that stack leads to
 * the code that ends the process. Below C that Erlang has called the stack begins where the code after the call will
 * take it from:
 *
 *     mov %rbp,%rsp         C preserves rbp
 *     mov 0x58(%r13),%rsp   Process.stop, of the scheduler's current process
 *     mov %rax,%r13         C was erts_schedule(): no process runs
 *
 * beam.h describes the layouts. */
#include "beam.h"

#include "beam_code.bpf.h"
#include "bpf/lib/beampid.h"
#include "bpf/walk/lookup.bpf.h"
#include "bpf/walk/start.bpf.h"

#define PROCESS_STOP 0x58

#ifndef STRATA_HOST
/* The layout of a process is known from its own memory, by userspace. */
__global int beam_meet(struct walk *w)
{
	return -1;
}
#endif

/* Runs once in a walk, at its first frame of Erlang. Returns 0 on success, -1 on failure. */
__global int beam_begin(struct walk *w)
{
	struct beam_scratch *s;
	struct beam_proc *p;
	__u64 now;
	__u32 pid;

	if (!w)
		return -1;
	pid = w->pid;
	p = bpf_map_lookup_elem(&beam_procs, &pid);
	s = scratch_of(w);
	if (!p || !s)
		return -1;
	w->frame_begun = FRAME_LANG_BEAM;
	own_of(w)->serial = ++s->serial;
	own_of(w)->sp = own_of(w)->end = own_of(w)->settled = 0;
	now = bpf_ktime_get_ns();
	if (s->pid == pid && s->proc.generation == p->generation && now - s->began < BEAM_TRUST)
		return 0;
	s->began = now;
	s->round++;
	if (s->pid != pid || s->proc.generation != p->generation)
		s->end_of_all = p->end;
	s->proc = *p;
	s->pid = pid;
	return beam_tables(s);
}

/* Sets the memo's frame, and sends its names if the stack is stored. */
static __always_inline void name(struct walk *w, struct beam_scratch *s, struct beam_memo *m)
{
	if (m->frame && (!w->store || m->sent))
		return;
	s->module = m->module;
	if (m->frame && beam_find_function(s, m->key))
		return;
	m->frame = beam_names(s, m->key);
	m->sent = w->store && !beam_send(w, s, m->frame);
}

__global __u64 beam_frame(struct walk *w)
{
	struct beam_scratch *s = w ? scratch_of(w) : NULL;
	struct beam_memo *m;
	__u32 k;

	if (!s || WALK_ARM64(w) || !(w->map.flags & MAPPING_ANON) ||
		(w->frame_begun != FRAME_LANG_BEAM && beam_begin(w)))
		return 0;
	k = beam_at(s, w->pc - !(w->flags & WALK_EXACT));
	m = &s->memo[k & (BEAM_MEMO - 1)];
	s->place_pc = w->pc;
	s->place_sp = w->sp;
	s->place_serial = own_of(w)->serial;
	s->place_any = !m->code;
	if (!m->code)
		return w->filter ? 0 : FRAME_BEAM_RUNTIME;
	name(w, s, m);
	return m->frame;
}

/* Erlang's frames are made one by one. */
__global __u64 beam_frames(struct walk *w)
{
	return 0;
}

/* ---- the process's stack ---- */

/* Returns whether a Process has a stack that contains sp, and notes its end. */
__global int beam_is_on_stack(struct walk *w, __u64 process, __u64 sp)
{
	struct beam_scratch *s = w ? scratch_of(w) : NULL;
	__u64 *heap;

	if (!s || (process & 7) || (sp & 7) ||
		bpf_probe_read_user(s->heap, sizeof(s->heap), (void *)(process + s->proc.heap)))
		return 0;
	heap = s->heap;
	if ((heap[0] & 7) || heap[1] - heap[0] != heap[3] * 8 || heap[3] > BEAM_HEAP_MAX ||
		sp - heap[0] >= heap[1] - heap[0])
		return 0;
	own_of(w)->end = heap[1];
	return 1;
}

/* Returns the process that the thread's scheduler runs, or 0. */
static __always_inline __u64 current_process(struct walk *w, const struct beam_proc *p)
{
	const struct beam_tsd *at = &p->tsd;
	__u64 tp = walk_tp(w), block, scheduler = 0, process = 0;
	__u32 key = p->key, shift = at->block_shift & 31;

	block = tp + (__u64)(__s64)at->first;
	if (!tp || key >= BEAM_KEYS_MAX)
		return 0;
	if (key >= at->inlined) {
		if (read_user(tp + (__u64)(__s64)at->blocks + 8ULL * (key >> shift), &block) || !block)
			return 0;
		key &= (1U << shift) - 1;
	}
	if (read_user(block + ((__u64)key << (at->entry_shift & 7)) + at->value, &scheduler) || !scheduler ||
		read_user(scheduler + p->current, &process))
		return 0;
	return process;
}

/* Sets *ret to the place of the process's stack when the walk's frame has called C, or is about to. Returns 0, 1 if the
 * thread runs no process, or -1 if the place is unknown. */
static __always_inline int called_c(struct walk *w, struct beam_scratch *s, __u64 *ret)
{
	__u64 process = w->flags & WALK_REGS ? w->regs[RULE_REG_R13] : current_process(w, &s->proc), sp = w->fp;
	__u32 leave = beam_leave(w, s);

	if (leave == LEAVE_SCHEDULE)
		return 1;
	if (leave == LEAVE_STOP && read_user(process + PROCESS_STOP, &sp))
		return -1;
	*ret = sp;
	if (leave && beam_is_on_stack(w, process, sp))
		return 0;
	/* The garbage collector has moved the stack, and still has to give the old memory back. */
	if (leave != LEAVE_STOP || !s->end_of_all || (sp & 7))
		return -1;
	own_of(w)->end = sp + BEAM_STACK_MAX;
	return 0;
}

/* Finds the stack of the walk's frame. Returns 0, 1 if the thread runs no process, or -1 if it is unknown. */
static __always_inline int find_stack(struct walk *w, struct beam_scratch *s, __u64 *ret)
{
	*ret = w->sp;
	if (own_of(w)->sp == w->sp && own_of(w)->end)
		return 0;
	if (w->flags & WALK_REGS && beam_is_on_stack(w, w->regs[RULE_REG_R13], w->sp))
		return 0;
	return called_c(w, s, ret);
}

struct words {
	__u64 at, end;     /* the next word, the end of the stack */
	__u64 start, size; /* compiled code */
	__u64 ra;
	__u32 any;         /* a return address may have any low bits */
	__u32 unset;       /* words may not be set yet */
	__u32 bad, pad;
};

struct stack_search {
	struct walk *w;
	struct beam_scratch *scratch;
	struct words words;
};

#define CALL_REL32 (0xe8ULL << 24)

/* Returns whether these 8 bytes end in a call as the JIT compiler makes it: call rel32; call *disp32(%rip); call *%reg.
 * A product, because the verifier follows each branch. */
static __always_inline int is_call(__u64 before)
{
	__u64 relative = (before >> 24 & 0xff) ^ 0xe8, memory = (before >> 16 & 0xffff) ^ 0x15ff;
	__u64 reg = (before >> 48 & 0xf8ff) ^ 0xd0ff;

	return !(relative * memory * reg);
}

/* Returns whether a word is an address in compiled code: in the mapping of the frame, or in another one. Between the
 * mappings are other addresses, which no frame has whose words are set; in other frames, a call precedes it. */
static __always_inline int is_code(const struct words *s, const struct beam_scratch *scratch, __u64 word)
{
	__u64 before = CALL_REL32;

	if (word - s->start < s->size)
		return 1;
	if ((word & 3) || !word)
		return 0;
	if (s->at == s->end) /* the code that ends the process */
		return 1;
	if (word - scratch->modules_start >= scratch->modules_size)
		return 0;
	if (s->any | s->unset && bpf_probe_read_user(&before, 8, (void *)(word - 8)))
		return 0;
	return is_call(before);
}

/* Returns 1 at the end of the search. */
__round int beam_next_word(struct walk *w, struct beam_scratch *scratch, struct words *s)
{
	__u64 word = 0, offset;

	if (LACKS(w) || LACKS(scratch) || LACKS(s))
		return 1;
	offset = s->at - w->window_at;
	if (offset <= WINDOW_BYTES - 8 && !(offset & 7))
		word = window_word(w, offset);
	else
		s->bad = bpf_probe_read_user(&word, 8, (void *)s->at) || (s->at & 7);
	s->bad |= s->at >= s->end;
	if (s->bad)
		return 1;
	s->at += 8;
	if ((s->any || !(word & 3)) && is_code(s, scratch, word)) {
		s->ra = word;
		return 1;
	}
	/* A frame pointer (+JPfp), or a word that was not set yet. */
	if (s->any || s->unset || (word & 3) || !word || word - s->at < s->end - s->at)
		return 0;
	s->bad = 1;
	return 1;
}

static long stack_word(__u32 i, void *data)
{
	struct stack_search *s = data;

	return beam_next_word(s->w, s->scratch, &s->words);
}

/* The frame at sp: words of a frame that was just made are not set yet, and may be old return addresses. */
static __always_inline int skip_new_frame(struct walk *w, struct beam_scratch *s, struct words *words)
{
	__u64 size = frame_made(w, s), ra = 0;

	words->unset = 1;
	if (size && !(size & 7) && !walk_word(w, words->at + size, &ra) && !(ra & 3) && is_code(words, s, ra))
		words->at += size;
	return 0;
}

/* Goes to the first return address from sp on. */
__global int beam_to_first(struct walk *w, __u64 sp)
{
	struct beam_scratch *s = w ? scratch_of(w) : NULL;
	struct stack_search search = {};
	struct words *words = &search.words;
	int err;

	if (!s)
		return stop(UNWIND_LANGUAGE);
	search = (struct stack_search){.w = w, .scratch = s, .words = {.at = sp, .end = own_of(w)->end}};
	words->start = s->modules_start;
	words->size = s->modules_size;
	bpf_loop(BEAM_FRAME_WORDS, stack_word, &search, 0);
	if (words->bad || !words->ra)
		return stop(UNWIND_LANGUAGE);
	own_of(w)->settled = 1;
	err = arrive(w, words->ra, words->at, w->fp, 1);
	own_of(w)->sp = w->sp;
	return err;
}

static __always_inline int to_caller(struct walk *w, struct beam_scratch *s, __u64 sp, int any)
{
	struct stack_search search = {.w = w, .scratch = s, .words = {.at = sp, .end = own_of(w)->end, .any = any}};
	struct words *words = &search.words;
	int err;

	words->start = w->map.start;
	words->size = w->map.end - w->map.start;
	walk_word(w, sp, &words->ra); /* reads the window, if it does not have these words */
	words->ra = 0;
	if (!any && !own_of(w)->settled)
		skip_new_frame(w, s, words);
	own_of(w)->settled |= !any;
	bpf_loop(BEAM_FRAME_WORDS, stack_word, &search, 0);
	if (words->bad || !words->ra)
		return stop(UNWIND_LANGUAGE);
	if (words->at == words->end) /* the code that ends the process */
		s->end_of_all = words->ra;
	if (words->at == words->end || words->ra == s->end_of_all)
		return stop(UNWIND_COMPLETE);
	err = arrive(w, words->ra, words->at, w->fp, sp != w->sp);
	own_of(w)->sp = w->sp;
	return err;
}

__global int beam_unwind(struct walk *w)
{
	struct beam_scratch *s = w ? scratch_of(w) : NULL;
	__u64 sp = 0;
	int found;

	if (!s)
		return stop(UNWIND_UNREADABLE);
	if (w->filter && !(w->filter & 1U << FRAME_LANG_BEAM)) /* no other language runs below Erlang */
		return stop(UNWIND_COMPLETE);
	if (w->frame_begun != FRAME_LANG_BEAM || s->place_serial != own_of(w)->serial || s->place_pc != w->pc ||
		s->place_sp != w->sp)
		return stop(UNWIND_LANGUAGE);
	found = find_stack(w, s, &sp);
	if (found)
		return stop(found > 0 ? UNWIND_COMPLETE : UNWIND_LANGUAGE);
	return to_caller(w, s, sp, s->place_any);
}

/* A dirty scheduler runs a function in C for an Erlang process, on its own stack. No Erlang process runs elsewhere
 * meanwhile: its stack begins with the return address of that function. */
__global int beam_above(struct walk *w)
{
	__u64 process, sp = 0;
	struct beam_scratch *s;
	struct beam_proc *p;
	__u32 pid;

	if (!w || WALK_ARM64(w))
		return stop(UNWIND_COMPLETE);
	pid = w->pid;
	p = bpf_map_lookup_elem(&beam_procs, &pid);
	s = scratch_of(w);
	process = p && s ? current_process(w, p) : 0;
	if (!process)
		return stop(UNWIND_COMPLETE);
	if (beam_begin(w) || read_user(process + PROCESS_STOP, &sp) || !beam_is_on_stack(w, process, sp))
		return stop(UNWIND_LANGUAGE);
	return beam_to_first(w, sp);
}

/* ---- the Erlang process of a thread ---- */

/* Returns BEAM_PID() of an identifier. */
static __always_inline __u64 pid_of(const struct beam_proc *p, __u64 id)
{
	__u32 number = (__u32)id >> 4, places = p->pid_places & 31, low = (1U << places) - 1, place = number & low;

	if (p->pid_bits == BEAM_PID_OLD_BITS)
		return BEAM_PID(number & ((1U << BEAM_PID_OLD_BITS) - 1),
			number >> BEAM_PID_OLD_BITS & BEAM_SERIAL_OLD);
	if (p->pid_bits != BEAM_PID_BITS || places < BEAM_LINE_BITS)
		return 0;
	place = place >> BEAM_LINE_BITS | (place & ((1 << BEAM_LINE_BITS) - 1)) << (places - BEAM_LINE_BITS);
	return BEAM_PID((number & ~low) | place, id >> 32);
}

/* Returns the Erlang process that the thread runs (BEAM_PID()), or 0. */
__global __u64 beam_pid(struct walk *w)
{
	struct beam_proc *p;
	__u64 process, id = 0;
	__u32 pid;

	if (!w)
		return 0;
	pid = w->pid;
	p = bpf_map_lookup_elem(&beam_procs, &pid);
	process = p ? current_process(w, p) : 0;
	if (!process || (process & 7) || read_user(process, &id) || (id & 15) != BEAM_PID_TAG)
		return 0;
	return pid_of(p, id);
}

/* Sets r->id to the Erlang process that the thread runs (BEAM_PID()), or to 0. Uses only the slot of r. */
__global int beam_id(struct stack_req *r)
{
	struct walk *w;

	if (!r)
		return -1;
	w = start_in_slot(r);
	if (!w)
		return 0;
	if (LANG_IS_LOADED(BEAM))
		r->id = beam_pid(w);
	if (r->id || chunk_of(w->pid, 0))
		return 0;
	w->lookup = w->pc;
	walk_send_miss(w); /* userspace does not know the process yet */
	return 0;
}
