// SPDX-License-Identifier: Apache-2.0
/* step.c - a program is stepped through, and before each instruction the walk's first step
 * is compared with the truth: step STEPS[:WRONG][@FUNCTION] PROGRAM ARGS.., where ten
 * instructions of ten thousand may be wrong, or so many.
 *
 * The truth is a shadow stack. A call says where it will return to, and what the stack and
 * the frame pointer will be then; a callee whose caller's stack pointer has been passed is
 * gone, however it left. From the start of the program, or from where FUNCTION of it is
 * entered: of what was called before that nothing is known, and it is not counted; how many
 * instructions those were is told.
 *
 * A function that moves sp to another stack stays the one that its caller called: from the
 * move on, and again when what it calls there has returned. One that will not return may have
 * overwritten its return address: when no register has it, nor the stack between sp and the
 * caller's sp, its stack may end there, and how often it did is told, too. When it does return
 * after all, that was wrong.
 *
 * V8's code puts arguments between what it calls and the return address, what is called takes
 * them away, or leaves a frame for its caller: there a callee is gone when it has returned, and
 * of the caller, if that is V8's, too, sp is not compared: its frame is found by fp. */
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

/* What moves sp so far, and calls nothing, goes to another stack. */
#define FAR  (128ull << 10)
#define NEAR 256ull
#define ARGUMENTS 4096ull /* bytes of V8's */

struct call {
	uint64_t ra, sp, fp; /* the caller's, once it goes on */
	uint64_t over;       /* sp beyond this: the callee has gone. 0: as by sp */
	struct {
		uint64_t pc; /* where the walk first ended, as RA was nowhere.. */
		unsigned n;  /* ..so often */
	} ended;
};

struct stack { /* that was left */
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
	int end; /* of the step: enum unwind_end, or -1: it gave other registers */
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
	struct stack left[STACKS]; /* the last of them first */
	struct call mover; /* sp is another stack's, pc still what moved it: its call.. */
	bool changing, known; /* ..is it; and known */
	bool from_start; /* the outermost frame is known to be one */
	unsigned counted, wrong, reads;
	unsigned unknown; /* not counted */
	unsigned ended;   /* right: RA was nowhere */
	VEC(struct miss) pending; /* of this activation, if it is left by a jump */
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
	return false; /* is seen by sp */
}
#else
static const uint8_t trap[] = {0x00, 0x00, 0x20, 0xd4};

static void set_pc(int pid, uint64_t pc)
{
	/* The trap does not advance it. */
}

/* bl; blr; blraa and its like */
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

/* A callee may have no frame: it is gone as well when its return address is reached. */
static bool is_gone(const struct call *c, uint64_t sp)
{
	return sp > (c->over ? c->over : c->sp);
}

/* br x30: goes on in a function that has called what jumps, from the same sp. */
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

/* What was taken for wrong is right where it told of a jump: a longjmp's CFI is that of
 * where it goes. */
static void landed(struct rig *r, const struct host_regs *at)
{
	while (r->pending.len) {
		const struct call *got = &r->pending.data[r->pending.len - 1].got;

		if (got->ra != at->pc || got->sp != at->sp || got->fp != at->fp)
			break;
		r->pending.len--;
	}
}

/* Of a stack that was not seen before, or has been moved, nothing is known. One that was
 * left goes on where it was. */
static void change_stack(struct rig *r, uint64_t from, uint64_t to)
{
	struct stack here, next = {};
	int i = 0;

	if (!r->changing) {
		r->known = r->calls.len;
		if (r->known)
			r->mover = r->calls.data[r->calls.len - 1];
		if (r->known && r->mover.over) /* it was moved here, and moves back */
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

/* Whether no register has it, nor the stack up to where the caller's begins: all of them,
 * signed or not. */
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

/* Its call: of the function that runs; NULL: it is the outermost, or nothing is known. */
static struct call *running(struct rig *r)
{
	if (r->changing)
		return r->known ? &r->mover : NULL;
	return r->calls.len ? &r->calls.data[r->calls.len - 1] : NULL;
}

/* What V8 has no frame for beside its caller's: the handler of a bytecode, which its interpreter has
 * called, is part of the function whose frame fp is; and what makes a frame for its caller. */
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

/* Where its stack ended, it had a caller. */
static void was_called(struct rig *r, const struct call *c)
{
	struct call got = {};

	for (unsigned i = 0; i < c->ended.n; i++)
		suspect(r, c->ended.pc, UNWIND_COMPLETE, &got, c);
	r->ended -= c->ended.n;
}

/* How many of the calls are left where one of them has returned; all, if none has. */
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
		if (r->changing && r->known && call) { /* to which it will return */
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

/* The handler returns to the trampoline, and that to what was interrupted. */
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

/* The address of a function of the program itself; 0: none. */
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
	printf("# the process was read %u times; beside them %u instructions, of what was called before\n",
		r->reads, r->unknown);
	if (r->ended)
		printf("# of them %u in functions that will not return and have lost their caller:", r->ended);
	for (size_t i = 0; i < r->lost.len; i++)
		printf(" %u %s%s", r->lost.data[i].n, r->lost.data[i].name, i + 1 < r->lost.len ? "," : "\n");
	for (size_t i = 0; i < r->misses.len && i < SHOWN; i++) {
		const struct miss *m = &r->misses.data[i];

		printf("#   %u x %s: end %d; ra %llx sp %llx fp %llx, not %llx %llx %llx\n", m->n, m->name,
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
