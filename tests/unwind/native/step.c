// SPDX-License-Identifier: Apache-2.0
/* step.c - steps a program, and before each instruction compares the walk's first step with the
 * truth: step STEPS[:WRONG][@FUNCTION] PROGRAM ARGS.. Of ten thousand instructions WRONG may be
 * wrong (default: ten).
 *
 * The truth is a shadow stack. Each call pushes its return address and the stack and frame pointer
 * that hold after the return; a callee has ended when sp has passed its caller's stack pointer,
 * however it left. Counting starts with the program, or when its FUNCTION is entered. Functions
 * that were called before that have no known caller; their instructions are not judged, and their
 * number is printed.
 *
 * A function that moves sp to another stack keeps its caller, from the move on, and again when a
 * function that it calls there has returned. A function that will not return may have overwritten
 * its return address: when neither a register nor the stack between sp and the caller's sp holds
 * it, the walk may end there, and the number of such ends is printed. If the function returns after
 * all, the end was wrong.
 *
 * V8's code puts arguments between the return address and the callee's frame, and the callee removes
 * them or leaves a frame for its caller. There a callee has ended when it has returned, and the sp of
 * a caller in V8's code is not compared: its frame is found by fp. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/vec.h"
#include "child.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"

enum { SHOWN = 25, STACKS = 4 };

/* An instruction that moves sp this far and is not a call switches stacks. */
#define FAR  (128ull << 10)
#define NEAR 256ull
#define ARGUMENTS 4096ull /* bytes of arguments that V8 may push */

struct call {
	uint64_t ra, sp, fp; /* of the caller, after the return */
	uint64_t over;       /* the callee has ended when sp is beyond this. 0: use sp */
	struct {
		uint64_t pc; /* where the walk first ended because RA was nowhere.. */
		unsigned n;  /* ..and how often */
	} ended;
};

struct stack { /* a stack that the program has switched away from */
	uint64_t sp;
	struct {
		struct call *data;
		size_t len, cap;
	} calls;
};

struct miss {
	uint64_t pc;
	struct call got;
	unsigned n;
	int end; /* result of the step: enum unwind_end, or -1: registers that differ */
	char name[128];
	struct call want;
};

struct lost { /* a function that lost its caller */
	char name[64];
	unsigned n;
};

struct rig {
	int pid;
	struct target *target;
	struct test_process *process;
	struct host_process memory;
	VEC(struct call) calls;
	struct stack left[STACKS]; /* most recent first */
	struct call mover; /* the call of the function that switched stacks */
	bool changing, known; /* that function still runs; mover is known */
	bool from_start; /* the outermost known frame is the program's first */
	unsigned counted, wrong, reads;
	unsigned unknown; /* instructions whose caller is not known; they are not counted */
	unsigned ended;   /* walks that rightly ended since RA was nowhere */
	VEC(struct miss) pending; /* misses of this activation, undecided until it returns or jumps */
	VEC(struct miss) misses;
	VEC(struct lost) lost;
};

/* ---- instructions ------------------------------------------------------ */

static uint64_t word(struct rig *r, uint64_t addr)
{
	uint64_t v = 0;

	r->memory.memory.read(&r->memory.memory, addr, &v, sizeof(v));
	return v;
}

#ifdef __x86_64__
static const uint8_t trap[] = {0xcc};

static void set_pc(int pid, uint64_t pc)
{
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), pc);
}

/* call rel32; call *r/m, behind prefixes: notrack, bnd, rex.. */
static bool is_call(struct rig *r, const struct host_regs *regs)
{
	uint8_t code[16];

	if (r->memory.memory.read(&r->memory.memory, regs->pc, code, 8))
		return false;
	for (int i = 0; i < 6; i++) {
		if (code[i] == 0xe8)
			return true;
		if (code[i] == 0xff)
			return (code[i + 1] >> 3 & 7) == 2;
		if (code[i] != 0x3e && code[i] != 0xf2 && code[i] != 0x66 && code[i] != 0x67 &&
			(code[i] & 0xf0) != 0x40)
			return false;
	}
	return false;
}

static uint64_t return_address(struct rig *r, const struct host_regs *after)
{
	return word(r, after->sp);
}

static uint64_t handler_sp(const struct host_regs *after)
{
	return after->sp + 8;
}

/* A callee runs below its caller's stack pointer: RA lies between. */
static bool is_gone(const struct call *c, uint64_t sp)
{
	return c->over ? sp > c->over : sp >= c->sp;
}

static bool is_longjmp(struct rig *r, const struct host_regs *regs)
{
	return false; /* sp shows it */
}
#else
static const uint8_t trap[] = {0x00, 0x00, 0x20, 0xd4};

static void set_pc(int pid, uint64_t pc)
{
	/* The trap does not advance pc. */
}

/* bl; blr; blraa and its variants */
static bool is_call(struct rig *r, const struct host_regs *regs)
{
	uint32_t op = word(r, regs->pc);

	return op >> 26 == 0x25 || (op & 0xfffffc1f) == 0xd63f0000 || (op & 0xfefff800) == 0xd63f0800;
}

static uint64_t return_address(struct rig *r, const struct host_regs *after)
{
	return after->lr;
}

static uint64_t handler_sp(const struct host_regs *after)
{
	return after->sp;
}

/* A callee may have no frame; then it has ended when its return address is reached. */
static bool is_gone(const struct call *c, uint64_t sp)
{
	return sp > (c->over ? c->over : c->sp);
}

/* br x30: continues, at the same sp, in a function that has called the one that jumps. */
static bool is_longjmp(struct rig *r, const struct host_regs *regs)
{
	return (uint32_t)word(r, regs->pc) == 0xd61f03c0;
}
#endif

/* ---- the truth --------------------------------------------------------- */

static void add_miss(struct rig *r, const struct miss *m)
{
	r->wrong++;
	for (size_t i = 0; i < r->misses.len; i++)
		if (r->misses.data[i].pc == m->pc) {
			r->misses.data[i].n++;
			return;
		}
	vec_push(&r->misses, *m);
}

static void judge(struct rig *r)
{
	for (size_t i = 0; i < r->pending.len; i++)
		add_miss(r, &r->pending.data[i]);
	r->pending.len = 0;
}

/* Pending misses that gave the target of this jump were right: the CFI of longjmp describes the
 * place that it jumps to. */
static void landed(struct rig *r, const struct host_regs *at)
{
	while (r->pending.len) {
		const struct call *got = &r->pending.data[r->pending.len - 1].got;

		if (got->ra != at->pc || got->sp != at->sp || got->fp != at->fp)
			break;
		r->pending.len--;
	}
}

/* Nothing is known of a stack that is new or was moved. A stack that the program comes back to keeps
 * its calls. */
static void change_stack(struct rig *r, uint64_t from, uint64_t to)
{
	struct stack here, next = {};
	int i = 0;

	if (!r->changing) {
		r->known = r->calls.len;
		if (r->known)
			r->mover = r->calls.data[r->calls.len - 1];
		if (r->known && r->mover.over) /* the function switched to this stack, and now back */
			r->calls.len--;
	}
	here = (struct stack){from, {r->calls.data, r->calls.len, r->calls.cap}};
	while (i < STACKS - 1 && r->left[i].sp - to + NEAR > 2 * NEAR)
		i++;
	if (r->left[i].sp - to + NEAR <= 2 * NEAR)
		next = r->left[i];
	else
		free(r->left[i].calls.data);
	memmove(&r->left[1], &r->left[0], i * sizeof(r->left[0]));
	r->left[0] = here;
	r->calls.data = next.calls.data;
	r->calls.len = next.calls.len;
	r->calls.cap = next.calls.cap;
	r->changing = true;
}

/* ---- the walk ---------------------------------------------------------- */

static void read_process(struct rig *r)
{
	if (r->process)
		test_process_read(r->target, r->process);
	else
		r->process = test_process_new(r->target, r->pid);
	r->reads++;
}

static void name_function(const struct rig *r, uint64_t pc, char *name, size_t size)
{
	const struct mapping *m = test_mapping(r->process, pc);
	struct elf *e = m && m->file ? r->process->files[m->file - r->process->first].elf : NULL;
	const struct elf_symbol *s = e ? elf_symbol_at(e, pc - m->bias) : NULL;

	snprintf(name, size, "%s", s ? s->name : "?");
}

static void name_pc(struct rig *r, uint64_t pc, char *name, size_t size)
{
	const struct mapping *m = test_mapping(r->process, pc);
	char symbol[64];

	name_function(r, pc, symbol, sizeof(symbol));
	snprintf(name, size, "%s %llx %s", m && m->file ?
		strrchr(r->process->files[m->file - r->process->first].path, '/') : "",
		(unsigned long long)(pc - (m ? m->bias : 0)), symbol);
}

static void count_lost(struct rig *r, uint64_t pc)
{
	struct lost here = {.n = 1};

	r->ended++;
	name_function(r, pc, here.name, sizeof(here.name));
	for (size_t i = 0; i < r->lost.len; i++)
		if (!strcmp(r->lost.data[i].name, here.name)) {
			r->lost.data[i].n++;
			return;
		}
	vec_push(&r->lost, here);
}

static void suspect(struct rig *r, uint64_t pc, int end, const struct call *got, const struct call *want)
{
	struct miss m = {.pc = pc, .got = *got, .n = 1, .end = end, .want = want ? *want : (struct call){}};

	name_pc(r, pc, m.name, sizeof(m.name));
	vec_push(&r->pending, m);
}

/* Returns whether neither a register nor the stack below the caller's frame holds the return address, signed
 * or not. */
static bool is_nowhere(struct rig *r, const struct call *c, uint64_t sp)
{
	const uint64_t mask = (1ull << 48) - 1;
	struct user_regs_struct regs;
	const uint64_t *reg = (const uint64_t *)&regs;
	struct iovec io = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, r->pid, NT_PRSTATUS, &io))
		return false;
	for (size_t i = 0; i < sizeof(regs) / sizeof(*reg); i++)
		if ((reg[i] & mask) == (c->ra & mask))
			return false;
	for (uint64_t at = sp; !r->changing && at < (c->over ? c->over : c->sp); at += 8)
		if ((word(r, at) & mask) == (c->ra & mask))
			return false;
	return true;
}

/* The call of the running function; NULL: it is the outermost, or its caller is not known. */
static struct call *running(struct rig *r)
{
	if (r->changing)
		return r->known ? &r->mover : NULL;
	return r->calls.len ? &r->calls.data[r->calls.len - 1] : NULL;
}

/* Code of V8 that has no frame of its own: the handler of a bytecode runs in the frame of the
 * interpreted function, and a builtin that makes a frame makes it for its caller. */
static bool is_part_of_caller(const struct rig *r, const struct host_regs *regs, const struct call *caller)
{
	char name[128];
	size_t n;

	if (!test_is_v8(r->process, regs->pc))
		return false;
	name_function(r, regs->pc, name, sizeof(name));
	n = strlen(name);
	return (n > 7 && !strcmp(name + n - 7, "Handler") && caller->fp == regs->fp) ||
		(regs->machine == EM_X86_64 && !strcmp(name, "Builtins_BaselineOutOfLinePrologue"));
}

static bool is_right(struct rig *r, struct call *want, uint64_t pc, uint64_t sp, int end,
	const struct host_regs *up)
{
	if (!want)
		return end == UNWIND_COMPLETE + 1;
	if (!end)
		return up->pc == want->ra && up->fp == want->fp &&
			(up->sp == want->sp || test_is_v8(r->process, want->ra - 1));
	if (end != UNWIND_COMPLETE + 1 || !is_nowhere(r, want, sp))
		return false;
	if (!want->ended.n++)
		want->ended.pc = pc;
	count_lost(r, pc);
	return true;
}

static void compare(struct rig *r, const struct host_regs *regs)
{
	struct call *want = running(r);
	struct host_regs up = {};
	struct call got;
	int end;

	if (!want && !(r->from_start && !r->changing)) {
		r->unknown++;
		return;
	}
	if (want && !r->changing && is_part_of_caller(r, regs, want)) {
		if (r->calls.len == 1)
			return;
		want--;
	}
	if (!test_mapping(r->process, regs->pc))
		read_process(r);
	end = host_step(&(struct host_thread){&r->memory.memory, regs, &r->process->tables, r->pid}, &up);
	got = (struct call){.ra = up.pc, .sp = up.sp, .fp = up.fp};
	r->counted++;
	if (!is_right(r, want, regs->pc, regs->sp, end, &up))
		suspect(r, regs->pc, end - 1, &got, want);
}

/* The function returned to a caller, so the walks that ended in it were wrong. */
static void was_called(struct rig *r, const struct call *c)
{
	struct call got = {};

	for (unsigned i = 0; i < c->ended.n; i++)
		suspect(r, c->ended.pc, UNWIND_COMPLETE, &got, c);
	r->ended -= c->ended.n;
}

/* Returns the number of calls that remain after one of them has returned, or of all calls if no call has. */
static size_t returned(const struct rig *r, const struct host_regs *at)
{
	bool v8 = test_is_v8(r->process, at->pc);

	for (size_t i = r->calls.len; i-- > 0;) {
		const struct call *c = &r->calls.data[i];

		if (c->ra == at->pc && (c->sp == at->sp || (v8 && at->sp - c->sp + ARGUMENTS < 2 * ARGUMENTS)))
			return i;
	}
	return r->calls.len;
}

static bool has_left(const struct rig *r, const struct call *c, uint64_t sp)
{
	return is_gone(c, test_is_v8(r->process, c->ra - 1) ? sp - ARGUMENTS : sp);
}

static void follow(struct rig *r, bool call, const struct host_regs *before,
	const struct host_regs *after)
{
	bool jumps = is_longjmp(r, before);
	size_t left;

	landed(r, after);
	if (after->pc - before->pc > 15) {
		if (r->changing && r->known && call) { /* the callee will return to the mover */
			r->mover.over = before->sp + 8;
			vec_push(&r->calls, r->mover);
		}
		r->changing = false;
	} else if (!call && after->sp - before->sp + FAR > 2 * FAR) {
		change_stack(r, before->sp, after->sp);
	}
	left = call || after->pc - before->pc <= 15 ? r->calls.len : returned(r, after);
	while (r->calls.len) {
		const struct call *top = &r->calls.data[r->calls.len - 1];

		if (r->calls.len <= left && !has_left(r, top, after->sp + jumps))
			break;
		if (top->ra == after->pc) {
			was_called(r, top);
			judge(r);
		}
		r->calls.len--;
	}
	if (call) {
		judge(r);
		vec_push(&r->calls, (struct call){
			.ra = return_address(r, after), .sp = before->sp, .fp = before->fp});
	}
}

/* The handler returns to the trampoline, the trampoline to the interrupted function. */
static void enter_handler(struct rig *r, const struct host_regs *before, const struct host_regs *after)
{
	vec_push(&r->calls, (struct call){.ra = before->pc, .sp = before->sp, .fp = before->fp});
	vec_push(&r->calls, (struct call){
		.ra = return_address(r, after), .sp = handler_sp(after), .fp = after->fp});
}

/* ---- the program ------------------------------------------------------- */

static int resume(int pid, int how, int signal)
{
	int status;

	if (ptrace(how, pid, 0, signal) < 0 || waitpid(pid, &status, __WALL) != pid ||
		!WIFSTOPPED(status))
		return -1;
	return WSTOPSIG(status);
}

static void write_code(int pid, uint64_t addr, const void *code, size_t size)
{
	uint64_t at = addr & ~7ull, v = ptrace(PTRACE_PEEKTEXT, pid, at, 0);

	memcpy((char *)&v + (addr - at), code, size);
	ptrace(PTRACE_POKETEXT, pid, at, v);
}

/* The address of a function in the program's own file; 0: it has none of that name. */
static uint64_t find_function(struct rig *r, const char *name)
{
	for (size_t i = 0; i < r->process->chunk[0].n; i++) {
		const struct mapping *m = &r->process->chunk[0].map[i];
		const struct test_file *f = &r->process->files[m->file ? m->file - r->process->first : 0];
		struct elf_symbol s;

		if (f->elf && elf_symbol_named(f->elf, name, &s))
			return s.vaddr + m->bias;
	}
	return 0;
}

static bool run_to(struct rig *r, const char *function)
{
	uint64_t addr = find_function(r, function);
	uint8_t saved[8];
	int got;

	if (!addr || r->memory.memory.read(&r->memory.memory, addr, saved, sizeof(trap)))
		return false;
	write_code(r->pid, addr, trap, sizeof(trap));
	while ((got = resume(r->pid, PTRACE_CONT, 0)) > 0 && got != SIGTRAP)
		;
	if (got < 0)
		return false;
	write_code(r->pid, addr, saved, sizeof(trap));
	set_pc(r->pid, addr);
	return true;
}

static int start(char **argv)
{
	int pid = fork(), status;

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) ? pid : -1;
}

static int by_number(const void *va, const void *vb)
{
	const struct miss *a = va, *b = vb;

	return (a->n < b->n) - (a->n > b->n);
}

static void show(const struct rig *r)
{
	if (r->misses.len)
		qsort(r->misses.data, r->misses.len, sizeof(*r->misses.data), by_number);
	printf("# the mappings were read %u times; %u more instructions were of functions called before the start\n",
		r->reads, r->unknown);
	if (r->ended)
		printf("# %u walks ended in functions that have overwritten their return address:", r->ended);
	for (size_t i = 0; i < r->lost.len; i++)
		printf(" %u %s%s", r->lost.data[i].n, r->lost.data[i].name, i + 1 < r->lost.len ? "," : "\n");
	for (size_t i = 0; i < r->misses.len && i < SHOWN; i++) {
		const struct miss *m = &r->misses.data[i];

		printf("#   %u x %s: end %d; right: ra %llx sp %llx fp %llx; walk: %llx %llx %llx\n", m->n, m->name,
			m->end, (unsigned long long)m->want.ra, (unsigned long long)m->want.sp,
			(unsigned long long)m->want.fp, (unsigned long long)m->got.ra,
			(unsigned long long)m->got.sp, (unsigned long long)m->got.fp);
	}
}

int main(int argc, char **argv)
{
	struct rig r = {.target = target_open("/")};
	struct host_regs before, after;
	const char *at = argc > 2 ? strchr(argv[1], '@') : NULL;
	unsigned steps, most = 10;
	int signal = 0;
	char what[160];

	if (argc < 3)
		return 2;
	if (sscanf(argv[1], "%u:%u", &steps, &most) < 1)
		return 2;
	if (access(argv[2], X_OK)) {
		printf("1..0 # SKIP there is no %s\n", argv[2]);
		return 0;
	}
	stay_on_cpu();
	r.pid = start(argv + 2);
	if (r.pid < 0)
		return 1;
	host_process_init(&r.memory, r.pid);
	read_process(&r);
	r.from_start = !at;
	if ((at && !run_to(&r, at + 1)) || stopped_regs(r.pid, &before) < 0) {
		printf("not ok 1 - %s is not reached\n", argv[1]);
		return 1;
	}
	read_process(&r);
	while (r.counted < steps) {
		bool call = is_call(&r, &before), handler = signal != 0;

		compare(&r, &before);
		signal = resume(r.pid, PTRACE_SINGLESTEP, signal);
		if (signal < 0 || stopped_regs(r.pid, &after) < 0)
			break;
		if (signal == SIGTRAP)
			signal = 0;
		if (handler)
			enter_handler(&r, &before, &after);
		else
			follow(&r, call && after.pc != before.pc, &before, &after);
		before = after;
	}
	judge(&r);
	snprintf(what, sizeof(what), "from %s: %u of %u instructions wrong, in %zu places", at ? at + 1 : "its start",
		r.wrong, r.counted, r.misses.len);
	ok(r.counted == steps && r.wrong * 10000ull <= steps * most, argv[2], what);
	show(&r);
	kill(r.pid, SIGKILL);
	return plan();
}
