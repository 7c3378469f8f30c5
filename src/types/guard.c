// SPDX-License-Identifier: Apache-2.0
/* guard.c - catches a crash on a signal stack of its own, since the usual reason is that the thread's stack
 * is full. It waits only up to the limit: a thread that is late is stopped but not ended, since it may hold
 * locks of the allocator. */
#include "guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/owner.h"

enum { SIGNAL_STACK = 65536, THREAD_STACK = 8 << 20, STAND_STILL = SIGVTALRM };

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { NSIGNALS = ARRAY_SIZE(signals) };

struct run {
	void (*f)(void *arg);
	void *arg;
	bool ended;
	sigjmp_buf out;
	char stack[SIGNAL_STACK];
};

static _Thread_local struct run *current;

static void crashed(int sig)
{
	if (current)
		siglongjmp(current->out, 1);
	signal(sig, SIG_DFL); /* another thread has crashed */
	raise(sig);
}

static void stand_still(int sig)
{
	for (;;)
		pause();
}

static void *run_thread(void *arg)
{
	struct run *r = arg;
	stack_t stack = {.ss_sp = r->stack, .ss_size = sizeof(r->stack)}, none = {.ss_flags = SS_DISABLE};

	if (sigaltstack(&stack, NULL))
		return NULL;
	current = r;
	if (!sigsetjmp(r->out, 1)) {
		r->f(r->arg);
		r->ended = true;
	}
	current = NULL;
	sigaltstack(&none, NULL);
	return NULL;
}

/* ---- limits ------------------------------------------------------------- */

static size_t mapped_bytes(void)
{
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages;

	return f && fscanf(f, "%lu", &pages) == 1 ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static void limit_memory(size_t bytes, struct rlimit *old)
{
	size_t now = mapped_bytes();
	struct rlimit limit;

	getrlimit(RLIMIT_AS, old);
	limit = *old;
	if (now && now + bytes < old->rlim_cur)
		limit.rlim_cur = now + bytes;
	setrlimit(RLIMIT_AS, &limit);
}

static struct timespec after(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* ---- the thread --------------------------------------------------------- */

static bool start(struct run *r, pthread_t *ret)
{
	pthread_attr_t attr;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	ok = !pthread_attr_setstacksize(&attr, THREAD_STACK) && !pthread_create(ret, &attr, run_thread, r);
	pthread_attr_destroy(&attr);
	return ok;
}

/* Frees r, unless its thread is late and still uses it. */
static enum guard_end finish(struct run *r, pthread_t thread, unsigned ms)
{
	struct timespec end = after(ms);
	enum guard_end how;

	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end)) {
		pthread_kill(thread, STAND_STILL);
		pthread_detach(thread);
		return GUARD_LATE;
	}
	how = r->ended ? GUARD_ENDED : GUARD_CRASHED;
	free(r);
	return how;
}

enum guard_end guarded(void (*f)(void *arg), void *arg, const struct guard_limits *limits)
{
	struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK}, old[NSIGNALS];
	struct sigaction still = {.sa_handler = stand_still};
	struct run *r = calloc(1, sizeof(*r));
	enum guard_end how = GUARD_CRASHED;
	struct rlimit old_limit;
	pthread_t thread;

	if (!r)
		return GUARD_CRASHED;
	r->f = f;
	r->arg = arg;
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &action, &old[i]);
	sigaction(STAND_STILL, &still, NULL);
	limit_memory(limits->bytes, &old_limit);
	if (start(r, &thread))
		how = finish(r, thread, limits->ms);
	else
		free(r);
	setrlimit(RLIMIT_AS, &old_limit);
	for (size_t i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	return how;
}
