// SPDX-License-Identifier: Apache-2.0
/* guard.c - catches a crash: on a stack of its own, for the usual reason is that the thread's is full. */
#include "guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "base/owner.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static sigjmp_buf out;

static void crashed(int sig)
{
	siglongjmp(out, 1);
}

bool guarded(void (*f)(void *arg), void *arg)
{
	enum { SIZE = 65536 };
	_cleanup_(freep) void *stack = malloc(SIZE);
	stack_t ours = {.ss_sp = stack, .ss_size = SIZE}, old_stack;
	struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK}, old[ARRAY_SIZE(signals)];
	volatile bool ok = false;

	if (!stack || sigaltstack(&ours, &old_stack))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, &old[i]);
	if (!sigsetjmp(out, 1)) {
		f(arg);
		ok = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	sigaltstack(&old_stack, NULL);
	return ok;
}
