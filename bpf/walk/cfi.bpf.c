// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* cfi.bpf.c - one step through native code: the kernel half of src/unwinders/native/cfi.c and ehframe.c.
 *
 * A step follows the rule that was looked up. Without a rule, a signal trampoline is recognised by its
 * bytes, and other code is assumed to keep a frame pointer. That is checked, because a wrong frame is
 * worse than a short stack. */
#include "bpf/lib/insn.h"
#include "lang.bpf.h"
#include "step.bpf.h"

/* ---- the stack --------------------------------------------------------- */

/* If the stack's mapping ends within the window, the window ends there, too. A read beyond the mapping costs
 * as much as the rest of a walk, and a thread's first frames stay in place, so the missing page is
 * remembered. If it becomes readable later, windows are only shorter than necessary. */
static __always_inline int read_window(struct walk *w, __u64 addr)
{
	__u64 base = addr & ~63ULL, next = (addr | (PAGE - 1)) + 1, gap = next | (w->pid & (PAGE - 1));
	__u32 k = w->pid;
	int crosses = base + WINDOW_BYTES > next;

	FORGET(k);
	k &= WALK_GAPS - 1;
	w->window_at = WINDOW_NONE;
	if ((crosses && w->gaps[k] == gap) || bpf_probe_read_user(w->window, WINDOW_BYTES, (void *)base)) {
		base = next - WINDOW_BYTES;
		if (base > addr || bpf_probe_read_user(w->window, WINDOW_BYTES, (void *)base))
			return -1;
		w->gaps[k] = gap;
	}
	w->window_at = base;
	return 0;
}

__global int walk_refill(struct walk *w, __u64 addr, __u64 *ret)
{
	if (!w || !ret)
		return -1;
	if (!(w->flags & WALK_NO_WINDOW) && !(addr & 7)) {
		if (!read_window(w, addr)) {
			*ret = window_word(w, addr - w->window_at);
			return 0;
		}
		w->flags |= WALK_NO_WINDOW;
	}
	return bpf_probe_read_user(ret, 8, (void *)addr) ? -1 : 0;
}

/* ---- signal frames ----------------------------------------------------- */

/* ORDER RULE_REG, as indices of x86_64's gregs: sp rbp rax rdx rcx rbx rsi rdi r8.. */
#define GREG_RIP 16

static __always_inline int signal_x86(struct walk *w)
{
	__u64 *g = w->signal;

	/* In rt_sigframe, sp is at the ucontext when the trampoline runs. */
	if (bpf_probe_read_user(g, 17 * 8, (void *)(w->sp + 40)))
		return stop(UNWIND_UNREADABLE);
	w->regs[RULE_REG_R8] = g[0];
	w->regs[RULE_REG_R9] = g[1];
	w->regs[RULE_REG_R10] = g[2];
	w->regs[RULE_REG_R11] = g[3];
	w->regs[RULE_REG_R12] = g[4];
	w->regs[RULE_REG_R13] = g[5];
	w->regs[RULE_REG_R14] = g[6];
	w->regs[RULE_REG_R15] = g[7];
	w->regs[RULE_REG_RDI] = g[8];
	w->regs[RULE_REG_RSI] = g[9];
	w->regs[RULE_REG_RBX] = g[11];
	w->regs[RULE_REG_RDX] = g[12];
	w->regs[RULE_REG_RAX] = g[13];
	w->regs[RULE_REG_RCX] = g[14];
	w->fp = g[10];
	w->sp = g[15];
	w->pc = g[GREG_RIP];
	return 0;
}

static __always_inline int signal_arm64(struct walk *w)
{
	__u64 *x = w->signal;

	if (bpf_probe_read_user(x, 33 * 8, (void *)(w->sp + 312)))
		return stop(UNWIND_UNREADABLE);
	w->fp = x[29];
	w->lr = x[30];
	w->regs[RULE_REG_X0] = x[0];
	w->regs[RULE_REG_X1] = x[1];
	w->regs[RULE_REG_X12] = x[12];
	w->regs[RULE_REG_R13] = x[13];
	w->regs[RULE_REG_X19] = x[19];
	w->regs[RULE_REG_X20] = x[20];
	w->regs[RULE_REG_X22] = x[22];
	w->sp = x[31];
	w->pc = strip(w, x[32]);
	return 0;
}

/* Loads all registers of the interrupted frame, which may be on another stack. */
__global int native_signal(struct walk *w)
{
	int err;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	err = WALK_ARM64(w) ? signal_arm64(w) : signal_x86(w);
	if (err)
		return err;
	w->flags &= ~(WALK_NO_WINDOW | WALK_GUESSED | WALK_BODY);
	w->flags |= WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR;
	return w->pc ? 0 : stop(UNWIND_COMPLETE);
}

/* mov $15,%rax; syscall - push $15; pop %rax; syscall - mov x8,#139; svc #0 */
static __always_inline int is_trampoline(struct walk *w, const __u64 code[2])
{
	if (WALK_ARM64(w))
		return code[0] == 0xd4000001d2801168ULL;
	if (code[0] == 0x0f0000000fc0c748ULL && (code[1] & 0xff) == 0x05)
		return 1;
	return (code[0] & 0xffffffffffULL) == 0x050f580f6aULL;
}

/* ---- by frame pointer -------------------------------------------------- */

/* Returns whether the instruction before pc is a call. Unreadable code may be one. */
static __always_inline int after_call(struct walk *w, __u64 pc)
{
	__u64 v;

	if (bpf_probe_read_user(&v, 8, (void *)(pc - 8)))
		return 1;
	if (WALK_ARM64(w)) {
		__u32 op = v >> 32;

		return A64_IS_BL(op) || A64_IS_BLR(op) || A64_IS_BLRA(op);
	}
	return X86_IS_CALL(v);
}

/* HotSpot's interpreter pushes its callee's return address and jumps to the callee, so no call comes before
 * that address. A word below the frame pointer of its frames has the caller's sp, which is at most the locals
 * above the frame (interpreter_frame_sender_sp_offset, frame_x86.hpp and frame_aarch64.hpp of JDK 8 to 25). */
#define SENDER_MAX (64 << 10)

static __always_inline int is_jumped_to(struct walk *w, __u64 pc, __u64 fp)
{
	__u64 sender = 0;

	w->lookup = pc - 1;
	w->cached_span = 0;
	if (walk_published(w) || !(w->map.flags & MAPPING_ANON))
		return 0;
	return fp > w->fp && !(fp & 7) && !walk_word(w, fp - 8, &sender) && !(sender & 7) &&
	       sender - (fp + 16) < SENDER_MAX;
}

/* Recognises add $N,%rsp; ret, the end of a function without a frame pointer, such as the code that CPython's
 * -X perf copies for each function. Returns 1 if it made the step. */
static __always_inline int fp_epilogue_x86(struct walk *w, __u64 code, int *err)
{
	__u64 ra = 0, sp = w->sp + (code >> 24 & 0x78);

	if ((code & 0xff87ffffffULL) != 0xc300c48348ULL)
		return 0;
	if (walk_word(w, sp, &ra))
		*err = stop(UNWIND_UNREADABLE);
	else
		*err = arrive(w, ra, sp + 8, w->fp, 0);
	return 1;
}

/* Returns whether a thread may begin in this code: its caller's frame pointer or return address is then 0. On x86_64
 * any register or word may be 0, so code without a rule must be reached by frame pointers and be in a file
 * that has no tables at all. */
static __always_inline int may_be_first(struct walk *w)
{
	if (w->rule || WALK_ARM64(w))
		return 1;
	return (w->flags & WALK_GUESSED) && !(w->map.flags & MAPPING_ANON) && w->table_file == w->map.file &&
	       !w->table_npages;
}

/* Code of a file without a rule was not understood: fp may be its caller's, or a number. Returns UNWIND_GUESSED for
 * such code, unless the walk has a cause already; else 0. */
static __always_inline __u32 guess(struct walk *w)
{
	__u64 other = w->map.flags & (MAPPING_ANON | MAPPING_UPROBES | MAPPING_VDSO);

	return (__u32)(is_set(w->map.file) & ~(is_set(w->rule) | is_set(other) | is_set(w->cause))) * UNWIND_GUESSED;
}

/* ---- PCRE's JIT compiler ------------------------------------------------- */

#define PCRE_WORDS 128 /* words of a frame that are searched: registers, captures, places to return to */

/* Returns whether an indirect call precedes pc: call *%reg, or blr. */
static __always_inline int after_indirect_call(__u64 v, int arm64)
{
	return arm64 ? A64_IS_BLR((__u32)(v >> 32)) : (v >> 48 & 0xf8ff) == 0xd0ff;
}

struct pcre_search {
	__u64 start, size; /* libpcre2's code */
	__u64 at;          /* address of the next word */
	__u64 ra;          /* the return address; 0: not found */
	__u32 arm64;
};

/* Signs of pointers are above the addresses that the walk knows. */
#define PCRE_ADDRESS (~0ULL >> 16)

static long pcre_word(__u32 i, void *data)
{
	struct pcre_search *s = data;
	__u64 word = 0, before = 0;

	if (bpf_probe_read_user(&word, 8, (void *)s->at))
		return 1;
	s->at += 8;
	word &= PCRE_ADDRESS;
	if (word - s->start >= s->size || bpf_probe_read_user(&before, 8, (void *)(word - 8)) ||
		!after_indirect_call(before, s->arm64))
		return 0;
	s->ra = word;
	return 1;
}

/* Compiled patterns (pcre2_jit_compile.c, 10.x, sljit) have no table and no frame pointer; the size of a frame depends
 * on the pattern. Its caller is in libpcre2, where few calls are indirect: the first word that leads after one of
 * them is the return address. Returns 0 if it made the step. */
__global int native_pcre(struct walk *w)
{
	struct pcre_search s = {};

	s.start = walk_pcre(w, 0);
	s.size = walk_pcre(w, 1) - s.start;
	if (!w || !s.start)
		return -1;
	s.at = w->sp;
	s.arm64 = !!WALK_ARM64(w);
	bpf_loop(PCRE_WORDS, pcre_word, &s, 0);
	return s.ra && !arrive(w, s.ra, s.at, w->fp, 0) ? 0 : -1;
}

__global int native_fp(struct walk *w)
{
	__u64 ra = 0, fp = 0, code[2] = {};
	int err = 0, first;
	__u32 cause;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	cause = guess(w);
	first = may_be_first(w);
	if (!bpf_probe_read_user(code, 9, (void *)w->pc) && is_trampoline(w, code))
		return native_signal(w);
	if (!WALK_ARM64(w) && fp_epilogue_x86(w, code[0], &err))
		return err;
	if (!(w->flags & WALK_EXACT) || !(WALK_ARM64(w) ? fp_top_arm(w, &err) : fp_top_x86(w, &err))) {
		if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
			return stop(!w->fp && first && (w->flags & WALK_GUESSED) ? UNWIND_COMPLETE : UNWIND_NO_TABLE);
		if (walk_word(w, w->fp, &fp) || walk_word(w, w->fp + 8, &ra))
			return stop(UNWIND_NO_TABLE);
		if (ra && !after_call(w, strip(w, ra)) && !is_jumped_to(w, strip(w, ra), fp))
			return stop(UNWIND_NO_TABLE);
		err = arrive(w, ra, w->fp + 16, fp, 0);
		w->cause |= cause;
	}
	if (!err)
		w->flags |= WALK_GUESSED;
	return err == stop(UNWIND_COMPLETE) && !first ? stop(UNWIND_NO_TABLE) : err;
}

/* ---- by rule ----------------------------------------------------------- */

/* arm64: after a step by frame pointer sp is unknown, because a frame begins at its record. The caller's own
 * record gives it, if the caller's rule has the record's place in the frame. */
static __always_inline int cfa_of_record(struct walk *w, __u64 rule, __u64 *cfa)
{
	if (RULE_KIND(rule) != RULE_CFA || !(RULE_FLAGS(rule) & RULE_RA_SLOT))
		return stop(UNWIND_NO_RULE);
	*cfa = w->fp - RULE_SLOT(rule);
	return 0;
}

/* Computes a CFA from a register other than sp and fp, or one loaded from memory. */
static __always_inline int uncommon_cfa(struct walk *w, __u64 rule, __u64 *cfa)
{
	__u32 reg = RULE_REG(rule);
	__u64 base;

	if (reg == RULE_REG_SP && WALK_ARM64(w) && (w->flags & WALK_GUESSED))
		return cfa_of_record(w, rule, cfa);
	if (reg == RULE_REG_SP)
		base = w->sp;
	else if (reg == RULE_REG_FP)
		base = w->fp;
	else if (w->flags & (reg == RULE_REG_RBX ? WALK_RBX : WALK_REGS))
		base = w->regs[reg];
	else
		return stop(UNWIND_NO_RULE);
	if (RULE_KIND(rule) == RULE_CFA) {
		*cfa = base + (RULE_FLAGS(rule) & RULE_RBX ? RULE_OFFSET_24(rule) : RULE_OFFSET(rule));
		return 0;
	}
	if (walk_word(w, base + RULE_BEFORE(rule), cfa))
		return stop(UNWIND_UNREADABLE);
	*cfa += RULE_BEHIND(rule);
	return 0;
}

/* Restores the caller's rbx. Returns WALK_RBX if it is known, 0 if not, -1 if it is unreadable. */
static __always_inline int restore_rbx(struct walk *w, __u64 rule, __u64 cfa)
{
	__s64 slot = RULE_RBX_SLOT(rule);

	if (!(RULE_FLAGS(rule) & RULE_RBX))
		return 0;
	if (!slot)
		return w->flags & WALK_RBX;
	return walk_word(w, cfa + slot, &w->regs[RULE_REG_RBX]) ? -1 : WALK_RBX;
}

/* Returns 0, or -1 if the register is not this frame's. */
static __always_inline int register_ra(struct walk *w, __u32 flags, __u64 slot, __u64 *ra)
{
	__u32 known = WALK_REGS;

	if (!WALK_ARM64(w)) {
		if (!(flags & RULE_RA_ONLY))
			slot = RULE_REG_RDI;
		FORGET(slot);
		*ra = w->regs[slot & 15];
	} else if ((flags & RULE_RA_X13) == RULE_RA_X13) {
		*ra = w->regs[RULE_REG_R13];
	} else {
		*ra = w->lr;
		known = WALK_LR;
	}
	return w->flags & known ? 0 : -1;
}

/* Returns whether a coroutine begins with this frame, whose caller would have fp 0: the switch to a new one returns to
 * its function, such as Ruby's (coroutine/arm64/Context.S). LR is then that function's address, behind no call. */
static __always_inline int is_coroutine(struct walk *w, __u64 ra)
{
	__u32 code[2] = {};

	if (w->map.flags & MAPPING_LANGS(LANGS_NATIVE)) /* Go shows where a goroutine begins */
		return 0;
	if (bpf_probe_read_user(code, sizeof(code), (const void *)(ra - 4)))
		return 0;
	return A64_IS_ENTRY(code[1]) || !(A64_IS_BL(code[0]) || A64_IS_BLR(code[0]) || A64_IS_BLRA(code[0]));
}

/* Restores fp and RA by the rule's flags, once the CFA is known. */
static __always_inline int restore(struct walk *w, __u64 rule, __u64 cfa, int may_switch)
{
	__s64 slot = RULE_SLOT(rule);
	__u32 flags = RULE_FLAGS(rule), regs = 0;
	__u64 fp = w->fp, ra = 0, ra_at = cfa - 8, at = cfa + slot;
	int rbx, err;

	if (flags & RULE_FP_AT_FP) {
		at = w->fp + slot;
		/* gcc's epilogue of a realigned frame keeps this rule until its end, when fp
		 * is already the caller's. */
		if (at < w->sp || at >= cfa) {
			flags &= ~RULE_FP_AT_FP;
			slot = 0;
		}
	}
	if (slot && WALK_ARM64(w))
		ra_at = flags & RULE_RA_SLOT ? at + 8 : at;
	/* Read fp first: it is below RA, and the window is filled upwards from there. */
	if ((slot || (flags & RULE_FP_AT_FP)) && !(flags & RULE_RA_ONLY) && walk_word(w, at, &fp))
		return stop(UNWIND_UNREADABLE);
	if (flags & RULE_RA_REG) {
		if (register_ra(w, flags, rule >> 16 & 15, &ra))
			return stop(UNWIND_NO_RULE);
		may_switch |= cfa == w->sp; /* a leaf has no frame */
		if (WALK_ARM64(w) && cfa == w->sp)
			regs = w->flags & WALK_REGS; /* setjmp's calls preserve x13 */
	} else if (walk_word(w, ra_at, &ra)) {
		return stop(UNWIND_UNREADABLE);
	}
	rbx = restore_rbx(w, rule, cfa);
	if (rbx < 0)
		return stop(UNWIND_UNREADABLE);
	if ((flags & RULE_EXACT) && WALK_ARM64(w)) {
		if (walk_word(w, cfa, &w->lr))
			return stop(UNWIND_UNREADABLE);
		cfa += 16;
		rbx = WALK_LR | WALK_BODY;
	} else if (WALK_ARM64(w) && slot && !fp && ra && is_coroutine(w, strip(w, ra))) {
		ra = 0;
	}
	err = arrive(w, ra, cfa, fp, may_switch);
	w->flags |= rbx | regs | (flags & RULE_EXACT ? WALK_EXACT : 0);
	return err;
}

/* jmp_buf of glibc's sysdeps/aarch64/jmpbuf-offsets.h, from x29 on */
#define JMPBUF_X29    80
#define LONGJMP_BYTES 256 /* it has some 200 bytes */

/* Returns whether ra follows a call of the function that contains pc. */
static __always_inline int is_called_from(struct walk *w, __u64 ra)
{
	__u32 op = 0;

	if (bpf_probe_read_user(&op, 4, (void *)(ra - 4)) || !A64_IS_BL(op))
		return 0;
	return w->pc - (ra - 4 + A64_BL_DISTANCE(op)) < LONGJMP_BYTES;
}

/* longjmp's frame is its caller's until it has loaded fp, LR and sp, in this order. In memory, LR and sp are
 * xored with the same secret. */
static __always_inline int by_longjmp(struct walk *w)
{
	__u64 *b = w->signal, lr = strip(w, w->lr); /* x29, x30, unused, sp */

	if (!(w->flags & WALK_REGS))
		return stop(UNWIND_NO_RULE);
	if (!WALK_ARM64(w))
		return arrive(w, w->regs[RULE_REG_RDX], w->regs[RULE_REG_R8], w->regs[RULE_REG_R9], 1);
	if (bpf_probe_read_user(b, 4 * 8, (void *)(w->regs[RULE_REG_X0] + JMPBUF_X29)) ||
		b[0] != w->fp)
		return arrive(w, lr, w->sp, w->fp, 1);
	if (is_called_from(w, lr)) /* called by glibc, whose frames have their records at sp */
		return arrive(w, lr, w->sp, w->sp, 1);
	return arrive(w, lr, b[3] ^ b[1] ^ w->lr, w->fp, 1);
}

__global int native_uncommon(struct walk *w)
{
	__u64 rule, cfa = 0;
	int err;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	rule = w->rule;
	switch (RULE_KIND(rule)) {
	case RULE_PLT:
		cfa = w->sp + 8 + ((w->pc & 15) >= (__u64)RULE_OFFSET(rule) ? 8 : 0);
		return restore(w, rule & 0xff, cfa, 0);
	case RULE_CFA:
	case RULE_CFA_DEREF:
		err = uncommon_cfa(w, rule, &cfa);
		return err ? err : restore(w, rule, cfa, 1);
	case RULE_SIGNAL:
		return native_signal(w);
	case RULE_LONGJMP:
		return by_longjmp(w);
	case RULE_END:
		return stop(UNWIND_COMPLETE);
	}
	return stop(UNWIND_NO_RULE);
}

__global int walk_step(struct walk *w)
{
	__u64 rule;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	rule = w->rule;
	/* Call these from here, because they call others: the kernel allows eight frames. */
	if (!rule && (w->map.flags & MAPPING_ANON) && !native_pcre(w))
		return 0;
	if (!rule || RULE_KIND(rule) == RULE_FP)
		return native_fp(w);
	if (RULE_KIND(rule) == RULE_LANG)
		return lang_unwind(w);
	if (RULE_KIND(rule) >= RULE_OWN)
		return native_lang_unwind(w);
	/* Nearly all rules on x86_64: CFA by sp or fp, RA and fp at slots of the CFA. */
	if ((rule & ~(1ULL << 4) & 0xffff) == RULE_CFA) {
		__s64 offset = RULE_OFFSET(rule), slot = RULE_SLOT(rule);
		int by_fp = RULE_REG(rule) == RULE_REG_FP;
		__u64 cfa = (by_fp ? w->fp : w->sp) + offset, fp = w->fp;
		__u64 ra = 0; /* Linux 6.1 passes no address of an unset variable */

		if (slot && walk_word(w, cfa + slot, &fp))
			return stop(UNWIND_UNREADABLE);
		if (walk_word(w, cfa - 8, &ra))
			return stop(UNWIND_UNREADABLE);
		return arrive(w, ra, cfa, fp, by_fp);
	}
	return native_uncommon(w);
}
