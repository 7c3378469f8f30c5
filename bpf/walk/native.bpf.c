// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* native.bpf.c - one frame of native code: the kernel half of src/unwinders/native/native.c.
 *
 * By the rule that was looked up; without one, a signal trampoline is told by its
 * bytes, and anything else is taken to keep a frame pointer, with checks: a wrong
 * frame is worse than a short stack. */
#include "walk.bpf.h"

#define USER_MAX     (1ULL << 56)
#define SWITCHES_MAX 1024 /* Go and C that call one another take two a time */

/* ---- the stack --------------------------------------------------------- */

/* Where the stack's mapping ends within the window, the window ends there. */
static __always_inline int read_window(struct walk *w, __u64 addr)
{
	__u64 base = addr & ~63ULL;

	w->window_at = WINDOW_NONE;
	if (bpf_probe_read_user(w->window, WINDOW_BYTES, (void *)base)) {
		base = (addr | (PAGE - 1)) + 1 - WINDOW_BYTES;
		if (base > addr || bpf_probe_read_user(w->window, WINDOW_BYTES, (void *)base))
			return -1;
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

/* ---- arriving at the caller -------------------------------------------- */

static __always_inline int stop(enum unwind_end end)
{
	return end + 1;
}

/* The caller's registers; sp must grow. Only code that moved to another stack by its
 * frame pointer may go down, and not often. */
static __always_inline int arrive(struct walk *w, __u64 pc, __u64 sp, __u64 fp, int may_switch)
{
	if (sp <= w->sp) {
		if (!may_switch || w->switches >= SWITCHES_MAX)
			return stop(UNWIND_LOOP);
		w->switches++;
		w->flags &= ~WALK_NO_WINDOW;
	}
	w->pc = strip(w, pc);
	w->sp = sp;
	w->fp = fp;
	w->flags &= ~(WALK_EXACT | WALK_REGS | WALK_RBX | WALK_LR | WALK_GUESSED | WALK_BODY);
	return w->pc ? 0 : stop(UNWIND_COMPLETE);
}

/* ---- signal frames ----------------------------------------------------- */

/* ORDER RULE_REG, as indices of x86_64's gregs: sp rbp rax rdx rcx rbx rsi rdi r8.. */
#define GREG_RIP 16

static __always_inline int signal_x86(struct walk *w)
{
	__u64 *g = w->signal;

	/* rt_sigframe: the trampoline is reached with sp at the ucontext. */
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
	w->regs[RULE_REG_R13] = x[13];
	w->sp = x[31];
	w->pc = strip(w, x[32]);
	return 0;
}

/* All registers are the interrupted frame's; the stack may be another one. */
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

/* Whether the instruction before pc is a call. Code that cannot be read may be one. */
static __always_inline int after_call(struct walk *w, __u64 pc)
{
	__u64 v;

	if (bpf_probe_read_user(&v, 8, (void *)(pc - 8)))
		return 1;
	if (WALK_ARM64(w)) {
		__u32 op = v >> 32;

		return (op >> 26) == 0x25 || (op & 0xfffffc1f) == 0xd63f0000 ||
			(op & 0xfefff800) == 0xd63f0800; /* bl, blr, blra* */
	}
	if (((v >> 24) & 0xff) == 0xe8)
		return 1;
	/* ff /2: 2, 3, 4, 6 or 7 bytes */
	return ((v >> 48) & 0x38ff) == 0x10ff || ((v >> 40) & 0x38ff) == 0x10ff ||
		((v >> 32) & 0x38ff) == 0x10ff || ((v >> 16) & 0x38ff) == 0x10ff ||
		((v >> 8) & 0x38ff) == 0x10ff;
}

/* The same in sub $N,%rsp; call *%r..; add $N,%rsp; ret, see fp_epilogue_x86(). */
static __always_inline int call_words(struct walk *w, __u64 v)
{
	int at_sub = (v & 0xf8ff87ffffffULL) == 0xd0ff00ec8348ULL;

	if (at_sub && bpf_probe_read_user(&v, 8, (void *)(w->pc + 4)))
		return -1;
	if ((v & 0xff87fffffff8ffULL) != 0xc300c48348d0ffULL)
		return -1;
	return at_sub ? 0 : v >> 43 & 15;
}

/* Where in its prologue or epilogue an interrupted x86 function stands, by its code:
 * how many words lie between sp and RA; -1: between them, fp is set. */
static __always_inline int prologue_words(struct walk *w)
{
	__u64 v;

	if (bpf_probe_read_user(&v, 8, (void *)(w->pc - 1)))
		return -1;
	v >>= 8; /* at pc */
	if ((v & 0xff) == 0x55 || (v & 0xff) == 0xc3 || (v & 0xff) == 0xc2)
		return 0; /* push %rbp; ret */
	if ((v & 0xffffffffffULL) == 0x55fa1e0ff3ULL)
		return 0; /* endbr64; push %rbp */
	if ((v & 0xffffff) == 0xe58948 || (v & 0xffffff) == 0xec8b48)
		return 1; /* mov %rsp,%rbp */
	if ((v & 0xffffffffffffffULL) == 0xec8348fa1e0ff3ULL)
		return 0; /* endbr64; sub $N,%rsp */
	return call_words(w, v);
}

/* How far a function of unknown bounds may reach. */
#define FUNCTION_REACH 0x10000ULL

/* Where an interrupted arm64 function stands, by its link register. When that is an address
 * of its own, or what lies in its frame, there is a frame and a call was or will be made;
 * when it is code of another function, there is no frame yet, or none any more. Anything
 * else in it is scratch. 1: done. */
static __always_inline int fp_top_arm(struct walk *w, int *err)
{
	__u64 reach = (w->rule & 15) == RULE_FP ? w->rule >> 32 : FUNCTION_REACH;
	__u64 lr = strip(w, w->lr), ra = 0;

	if (!(w->flags & WALK_LR) || lr - w->pc + reach < 2 * reach)
		return 0;
	if (!(w->fp & 7) && !walk_word(w, w->fp + 8, &ra) && strip(w, ra) == lr)
		return 0;
	w->lookup = lr - 1;
	w->cached_span = 0;
	if (walk_told(w)) /* walk_mapping() would be one call too deep */
		return 0;
	*err = arrive(w, lr, w->sp, w->fp, 1);
	return 1;
}

/* The interrupted frame: fp may not be its own yet. 1: done. */
static __always_inline int fp_top_x86(struct walk *w, int *err)
{
	int words = prologue_words(w);
	__u64 ra = 0, fp = w->fp;

	if (words < 0)
		return 0;
	if (walk_word(w, w->sp + words * 8, &ra) || (words && walk_word(w, w->sp, &fp)))
		*err = stop(UNWIND_UNREADABLE);
	else
		*err = arrive(w, ra, w->sp + words * 8 + 8, fp, 0);
	return 1;
}

/* add $N,%rsp; ret: what is left to run of a function that needs no frame pointer, as the
 * code that CPython's -X perf makes a copy of for each function. 1: done. */
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

__global int native_fp(struct walk *w)
{
	__u64 ra = 0, fp = 0, code[2] = {};
	int err = 0;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	if (!bpf_probe_read_user(code, 9, (void *)w->pc) && is_trampoline(w, code))
		return native_signal(w);
	if (!WALK_ARM64(w) && fp_epilogue_x86(w, code[0], &err))
		return err;
	if (!(w->flags & WALK_EXACT) || !(WALK_ARM64(w) ? fp_top_arm(w, &err) : fp_top_x86(w, &err))) {
		if ((w->fp & 7) || w->fp < w->sp || w->fp >= USER_MAX)
			return stop(!w->fp && (w->flags & WALK_GUESSED) ? UNWIND_COMPLETE : UNWIND_NO_TABLE);
		if (walk_word(w, w->fp, &fp) || walk_word(w, w->fp + 8, &ra))
			return stop(UNWIND_NO_TABLE);
		if (ra && !after_call(w, strip(w, ra)))
			return stop(UNWIND_NO_TABLE);
		err = arrive(w, ra, w->fp + 16, fp, 0);
	}
	if (!err)
		w->flags |= WALK_GUESSED;
	return err;
}

/* ---- by rule ----------------------------------------------------------- */

/* arm64: a step by frame pointer leaves sp unknown, as frames begin at their record. The
 * caller's own record tells, when its rule says where in the frame that lies. */
static __always_inline int cfa_of_record(struct walk *w, __u64 rule, __u64 *cfa)
{
	if ((rule & 15) != RULE_CFA || !(rule >> 8 & RULE_RA_SLOT))
		return stop(UNWIND_NO_RULE);
	*cfa = w->fp - (__s64)(__s16)(rule >> 16) * 8;
	return 0;
}

/* CFA by a register other than sp and fp, or loaded from memory. */
static __always_inline int odd_cfa(struct walk *w, __u64 rule, __u64 *cfa)
{
	__u32 reg = rule >> 4 & 15;
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
	if ((rule & 15) == RULE_CFA) {
		*cfa = base + (rule >> 8 & RULE_RBX ? (__s64)(rule << 8) >> 40 : (__s64)rule >> 32);
		return 0;
	}
	if (walk_word(w, base + (__s64)(__s16)(rule >> 32), cfa))
		return stop(UNWIND_UNREADABLE);
	*cfa += (__s64)(__s16)(rule >> 48);
	return 0;
}

/* ---- Go's stacks ------------------------------------------------------- */

/* struct g, struct m and struct gobuf of Go's runtime/runtime2.go: the same in all
 * versions that are in use, but for those that rules tell. */
#define G_STACK_HI 8
#define G_M        48
#define G_SCHED_SP 56
#define G_SCHED_PC 64

static __always_inline int read_user(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, 8, (void *)addr);
}

/* The goroutine's stack, from g0's. */
static __always_inline int by_gobuf(struct walk *w, __u64 rule)
{
	__u64 tp, g = 0, m = 0, sp = 0, pc = 0, fp = w->fp, bp = rule >> 16 & 0xffff;

	if (!(__u16)(rule >> 32)) {
		g = w->g;
	} else {
		if (!w->py.tp)
			w->py.tp = thread_pointer();
		tp = w->py.tp;
		if (!tp || read_user(tp + (__s64)(__s16)(rule >> 32), &g))
			return stop(UNWIND_UNREADABLE);
	}
	if (read_user(g + G_M, &m) || read_user(m + (rule >> 48), &g))
		return stop(UNWIND_UNREADABLE);
	if (!g) /* the scheduler has put it aside */
		return stop(UNWIND_COMPLETE);
	if (read_user(g + G_SCHED_SP, &sp))
		return stop(UNWIND_UNREADABLE);
	if (bp) {
		if (read_user(g + G_SCHED_PC, &pc) || read_user(g + bp, &fp) ||
			read_user(g + bp - 8, &w->lr))
			return stop(UNWIND_UNREADABLE);
		tp = arrive(w, pc, sp, fp, 1);
		w->flags |= WALK_ARM64(w) && w->lr ? WALK_LR : 0; /* the function has no frame yet */
		return tp;
	}
	if (read_user(sp, &pc) || (WALK_ARM64(w) && read_user(sp - 8, &fp)))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, pc, sp + (WALK_ARM64(w) ? 16 : 8), fp, 1);
}

static __always_inline int by_cgocall(struct walk *w, __u64 rule)
{
	__u64 g = 0, old = 0, hi = 0, pc = 0, fp = w->fp, at;

	if (read_user(w->sp + (rule >> 32 & 0xffff), &g) || read_user(w->sp + (rule >> 48), &old))
		return stop(UNWIND_UNREADABLE);
	if (g) {
		if (read_user(g + G_STACK_HI, &hi))
			return stop(UNWIND_UNREADABLE);
		old = hi - old;
	}
	at = old;
	if (rule >> 8 & RULE_RA_SLOT) {
		at += (__s64)(__s16)(rule >> 16) * 8 + 8;
		old += 8;
		if (read_user(at - 8, &fp))
			return stop(UNWIND_UNREADABLE);
	}
	if (read_user(at, &pc))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, pc, old + 8, fp, 1);
}

/* The frame record: RA above the caller's fp. Where that is Go's, sp is known by it; the
 * thread's or the goroutine's first frame has none below it. size: of the function's frame. */
static __always_inline int by_record(struct walk *w, __u64 at, __u64 size)
{
	__u64 fp = 0, ra = 0;

	if (walk_word(w, at, &fp) || walk_word(w, at + 8, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, fp ? fp + 8 : at + 8 + size, fp, 1);
}

/* A frame that a panic or preemption left in the middle of its body has all that it will have
 * on the stack. Its record's fp may be of a place where the stack was once: before 1.27 that is
 * not set right when the stack moves. */
static __always_inline int by_go_frame(struct walk *w, __u64 size)
{
	__u64 ra = w->lr;

	if (size && walk_word(w, w->sp, &ra))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, ra, w->sp + size, w->sp + size - 8, 1);
}

/* A frame that runs may not have its record yet, or no more; LR in the same function says
 * that it called something, and then RA is at sp; as it is there when LR is the same, which
 * was stored and not used since. fp may be the caller's already, or still. */
static __always_inline int by_go_rule(struct walk *w)
{
	__u64 fp = w->fp, saved = 0, ra, sp = w->sp, size = w->rule >> 32;

	if (!(w->flags & WALK_LR))
		return by_record(w, fp, size);
	if (w->flags & WALK_BODY)
		return by_go_frame(w, size);
	ra = strip(w, w->lr);
	if (size && walk_word(w, sp, &saved))
		return stop(UNWIND_UNREADABLE);
	saved = strip(w, saved);
	if (!size || (!w->own && saved != ra))
		return arrive(w, ra, sp, fp, 1);
	if (fp == sp - 8 && walk_word(w, fp, &fp))
		return stop(UNWIND_UNREADABLE);
	return arrive(w, saved, sp + size, fp, 1);
}

__global int native_go(struct walk *w)
{
	if (!w)
		return stop(UNWIND_UNREADABLE);
	switch (w->rule & 15) {
	case RULE_GOBUF:
		return by_gobuf(w, w->rule);
	case RULE_CGOCALL:
		return by_cgocall(w, w->rule);
	}
	return WALK_ARM64(w) ? by_go_rule(w) : stop(UNWIND_NO_RULE);
}

/* Whether the caller's rbx is known; it is set, or -1. */
static __always_inline int restore_rbx(struct walk *w, __u64 rule, __u64 cfa)
{
	__s64 slot = ((__s64)rule >> 56) * 8;

	if (!(rule >> 8 & RULE_RBX))
		return 0;
	if (!slot)
		return w->flags & WALK_RBX;
	return walk_word(w, cfa + slot, &w->regs[RULE_REG_RBX]) ? -1 : WALK_RBX;
}

/* 0, or -1: the register is not this frame's. */
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

/* fp and RA at a known CFA, by the rule's flags. */
static __always_inline int restore(struct walk *w, __u64 rule, __u64 cfa, int may_switch)
{
	__s64 slot = (__s64)(__s16)(rule >> 16) * 8;
	__u32 flags = rule >> 8 & 0xff;
	__u64 fp = w->fp, ra = 0, ra_at = cfa - 8, at = cfa + slot;
	__u32 regs = 0;
	int rbx, err;

	if (flags & RULE_FP_AT_FP) {
		at = w->fp + slot;
		/* gcc's epilogue of a realigned frame says so until its end, when fp is
		 * the caller's already. */
		if (at < w->sp || at >= cfa) {
			flags &= ~RULE_FP_AT_FP;
			slot = 0;
		}
	}
	if (slot && WALK_ARM64(w))
		ra_at = flags & RULE_RA_SLOT ? at + 8 : at;
	/* fp first: it lies below RA, and the window is filled from there upwards. */
	if ((slot || (flags & RULE_FP_AT_FP)) && !(flags & RULE_RA_ONLY) && walk_word(w, at, &fp))
		return stop(UNWIND_UNREADABLE);
	if (flags & RULE_RA_REG) {
		if (register_ra(w, flags, rule >> 16 & 15, &ra))
			return stop(UNWIND_NO_RULE);
		may_switch |= cfa == w->sp; /* a leaf has no frame at all */
		if (WALK_ARM64(w) && cfa == w->sp)
			regs = w->flags & WALK_REGS; /* what setjmp calls leaves x13 alone */
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
	}
	err = arrive(w, ra, cfa, fp, may_switch);
	w->flags |= rbx | regs | (flags & RULE_EXACT ? WALK_EXACT : 0);
	return err;
}

/* jmp_buf of glibc's sysdeps/aarch64/jmpbuf-offsets.h, from x29 on */
#define JMPBUF_X29    80
#define LONGJMP_BYTES 256 /* there are some 200 */

/* Whether ra lies behind a call of the function that pc is in. */
static __always_inline int is_called_from(struct walk *w, __u64 ra)
{
	__u32 op = 0;

	if (bpf_probe_read_user(&op, 4, (void *)(ra - 4)) || op >> 26 != 0x25)
		return 0;
	return w->pc - (ra - 4 + (__s64)((__s32)(op << 6) >> 4)) < LONGJMP_BYTES;
}

/* Its frame is its caller's until fp, LR and sp are loaded, in this order. What is in memory of
 * the latter two is xored with the same secret. */
static __always_inline int by_longjmp(struct walk *w)
{
	__u64 *b = w->signal, lr = strip(w, w->lr); /* x29, x30, something, sp */

	if (!(w->flags & WALK_REGS))
		return stop(UNWIND_NO_RULE);
	if (!WALK_ARM64(w))
		return arrive(w, w->regs[RULE_REG_RDX], w->regs[RULE_REG_R8], w->regs[RULE_REG_R9], 1);
	if (bpf_probe_read_user(b, 4 * 8, (void *)(w->regs[RULE_REG_X0] + JMPBUF_X29)) ||
		b[0] != w->fp)
		return arrive(w, lr, w->sp, w->fp, 1);
	if (is_called_from(w, lr)) /* by glibc, whose frames' records are at sp */
		return arrive(w, lr, w->sp, w->sp, 1);
	return arrive(w, lr, b[3] ^ b[1] ^ w->lr, w->fp, 1);
}

__global int native_odd(struct walk *w)
{
	__u64 rule, cfa = 0;
	int err;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	rule = w->rule;
	switch (rule & 15) {
	case RULE_PLT:
		cfa = w->sp + 8 + ((w->pc & 15) >= (rule >> 32) ? 8 : 0);
		return restore(w, rule & 0xff, cfa, 0);
	case RULE_CFA:
	case RULE_CFA_DEREF:
		err = odd_cfa(w, rule, &cfa);
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

__global int native_step(struct walk *w)
{
	__u64 rule;

	if (!w)
		return stop(UNWIND_UNREADABLE);
	rule = w->rule;
	/* These are called from here as they call others: the kernel allows eight frames. */
	if (!rule || (rule & 15) == RULE_FP)
		return native_fp(w);
	if ((rule & 15) == RULE_V8)
		return native_v8(w);
	if ((rule & 15) >= RULE_GOBUF)
		return native_go(w);
	/* Nearly all (on x86_64): CFA by sp or fp, RA and fp at slots of it. */
	if ((rule & ~(1ULL << 4) & 0xffff) == RULE_CFA) {
		__s64 offset = (__s32)(rule >> 32), slot = (__s64)(__s16)(rule >> 16) * 8;
		int by_fp = rule >> 4 & 1;
		__u64 cfa = (by_fp ? w->fp : w->sp) + offset, fp = w->fp;
		__u64 ra = 0; /* Linux 6.1: no address of what was never set */

		if (slot && walk_word(w, cfa + slot, &fp))
			return stop(UNWIND_UNREADABLE);
		if (walk_word(w, cfa - 8, &ra))
			return stop(UNWIND_UNREADABLE);
		return arrive(w, ra, cfa, fp, by_fp);
	}
	return native_odd(w);
}
