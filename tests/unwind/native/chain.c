// SPDX-License-Identifier: Apache-2.0
/* chain.c - a stack of known frames: chain DEPTH. Each function pushes its name on a
 * list before it calls the next; the innermost prints the list, innermost first, then
 * "ready". "*" stands for any number of a library's frames. Built as C and as C++.
 *
 * chain DEPTH [wait|loop|step]: the innermost function waits (wait); or the chain of calls
 * repeats, slowly (loop) or at full speed and without the list (step). */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRAME __attribute__((noinline, used)) int
#define AFTER(x)                                                                         \
	({                                                                               \
		int r_ = (x);                                                            \
		__asm__ volatile("" : "+r"(r_) : : "memory"); /* no tail call */         \
		r_ + 1;                                                                  \
	})

static const char *names[1 << 16];
static int nnames, told, wait_forever;
volatile int sink;

static int push(const char *name)
{
	names[nnames++] = name;
	return 0;
}

static void pop(int to)
{
	nnames = to;
}

static void tell(void)
{
	for (int i = nnames; i-- > 0;)
		puts(names[i]);
	puts("ready");
	fflush(stdout);
}

FRAME marker(int n);
FRAME marker(int n)
{
	push("marker");
	if (!told++)
		tell();
	while (wait_forever)
		pause();
	pop(nnames - 1);
	return n;
}

FRAME next(int n);

FRAME plain(int n);
FRAME plain(int n)
{
	push("plain");
	return AFTER(next(n));
}

FRAME with_alloca(int n);
FRAME with_alloca(int n)
{
	char *p = (char *)alloca(16 + n % 7 * 40);

	push("with_alloca");
	memset(p, n, 16);
	sink = p[3];
	return AFTER(next(n)) + p[5];
}

FRAME realigned(int n);
FRAME realigned(int n)
{
	char buf[128] __attribute__((aligned(64)));

	push("realigned");
	memset(buf, n, sizeof(buf));
	__asm__ volatile("" : : "r"(buf) : "memory");
	return AFTER(next(n)) + buf[n & 63];
}

/* A frame that is realigned and of variable size: gcc's CFI for it is *(rbp-8). */
FRAME realigned_alloca(int n);
FRAME realigned_alloca(int n)
{
	char buf[64] __attribute__((aligned(64)));
	char *p = (char *)alloca(n % 5 * 33 + 8);

	push("realigned_alloca");
	memset(buf, n, sizeof(buf));
	__asm__ volatile("" : : "r"(buf), "r"(p) : "memory");
	return AFTER(next(n)) + buf[n & 31];
}

FRAME large(int n);
FRAME large(int n)
{
	char buf[3000];

	push("large");
	memset(buf, n, sizeof(buf));
	__asm__ volatile("" : : "r"(buf) : "memory");
	return AFTER(next(n)) + buf[n & 63];
}

FRAME many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int n);
FRAME many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int n)
{
	push("many_arguments");
	return AFTER(next(n)) + a + b * c + d * e + f + g * h;
}

FRAME with_setjmp(int n);
FRAME with_setjmp(int n)
{
	jmp_buf env;

	push("with_setjmp");
	if (setjmp(env) == 0)
		longjmp(env, 1);
	return AFTER(next(n));
}

/* A call through the PLT, and back from the library. */
static int passed;
FRAME compare(const void *a, const void *b);
FRAME compare(const void *a, const void *b)
{
	push("compare");
	return AFTER(next(passed)) * 0;
}

FRAME by_library(int n);
FRAME by_library(int n)
{
	static const int array[1] = {1};
	int key = 1;

	push("by_library");
	push("*");
	passed = n;
	return AFTER(bsearch(&key, array, 1, sizeof(int), compare) != NULL);
}

#ifdef __cplusplus
}

/* Continues in a catch handler, after an exception has unwound two frames. */
struct guard {
	int *at;
	~guard() { sink = *at; }
};

extern "C" FRAME thrower(int n);
extern "C" FRAME thrower(int n)
{
	guard g = {&n};

	push("thrower");
	if (n >= 0)
		throw n;
	return n;
}

extern "C" FRAME catcher(int n);
extern "C" FRAME catcher(int n)
{
	int top = push("catcher") + nnames;

	try {
		return thrower(n) + 1;
	} catch (int caught) {
		pop(top);
		return AFTER(next(caught));
	}
}

/* Continues in a destructor that the C++ unwinder runs. */
struct deeper {
	int n;
	__attribute__((noinline)) ~deeper();
};
deeper::~deeper()
{
	push("deeper");
	sink = AFTER(next(n));
}

extern "C" FRAME while_unwinding(int n);
extern "C" FRAME while_unwinding(int n)
{
	push("while_unwinding");
	try {
		deeper d = {n};

		push("*");
		throw n;
	} catch (int) {
	}
	return n;
}

extern "C" {
#endif

static void handler(int sig)
{
	push("*"); /* the trampoline; kill() and the functions that it calls */
	push("handler");
	sink = AFTER(next(passed));
}

static FRAME by_signal(int n, int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags | SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	passed = n;
	push("by_signal");
	return AFTER(raise(SIGUSR1));
}

static FRAME on_other_stack(int n)
{
	static char room[32 << 20];
	stack_t st;

	memset(&st, 0, sizeof(st));
	st.ss_size = sizeof(room);
	st.ss_sp = room;
	sigaltstack(&st, NULL);
	push("on_other_stack");
	return AFTER(by_signal(n, SA_ONSTACK));
}

/* Signals at a few known depths; they add frames of their own. */
FRAME next(int n)
{
	int left = n - 1;

	push("next");
	if (left <= 0)
		return AFTER(marker(n));
	if (left == 7)
		return AFTER(by_signal(left, 0));
	if (left == 17)
		return AFTER(on_other_stack(left));
	switch (left % 10) {
	case 0: return AFTER(with_alloca(left));
	case 1: return AFTER(realigned(left));
	case 2: return AFTER(realigned_alloca(left));
	case 3: return AFTER(large(left));
	case 4: return AFTER(many_arguments(1, 2, 3, 4, 5, 6, 7, 8, left));
	case 5: return AFTER(with_setjmp(left));
	case 6: return AFTER(by_library(left));
#ifdef __cplusplus
	case 7: return AFTER(catcher(left));
	case 8: return left < 100 ? AFTER(while_unwinding(left)) : AFTER(plain(left));
#endif
	default: return AFTER(plain(left));
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	const char *mode = argc > 2 ? argv[2] : "wait";

	wait_forever = !strcmp(mode, "wait");
	if (!strcmp(mode, "step")) { /* no list */
		told = 1;
		puts("ready");
		fflush(stdout);
	}
	for (;;) {
		push("main");
		AFTER(next(n));
		pop(0);
		if (!strcmp(mode, "loop"))
			usleep(1000);
	}
}

#ifdef __cplusplus
}
#endif
