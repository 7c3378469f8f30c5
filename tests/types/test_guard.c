// SPDX-License-Identifier: Apache-2.0
/* test_guard.c - the result of guarded() for a function that ends, crashes, takes all memory, or does not end. */
#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "types/guard.h"

static void answer(void *arg)
{
	*(int *)arg = 42;
}

static void crash(void *arg)
{
	abort();
}

/* Overflows the stack. */
static void recurse(void *arg)
{
	volatile char a[4096];

	a[0] = *(volatile char *)arg;
	recurse(arg);
	a[1] = a[0];
}

static void map_all(void *arg)
{
	enum { PIECE = 1 << 20 };

	while (mmap(NULL, PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		;
	abort();
}

static void go_on(void *arg)
{
	for (volatile unsigned *n = arg;; ++*n)
		;
}

int main(void)
{
	const struct guard_limits limits = {.ms = 20000, .bytes = 64 << 20}, brief = {.ms = 10, .bytes = 64 << 20};
	struct rlimit before, now;
	unsigned n = 0;
	int value = 0;

	getrlimit(RLIMIT_AS, &before);
	assert(guarded(answer, &value, &limits) == GUARD_ENDED && value == 42);
	assert(guarded(crash, NULL, &limits) == GUARD_CRASHED);
	assert(guarded(recurse, &value, &limits) == GUARD_CRASHED);
	assert(guarded(map_all, NULL, &limits) == GUARD_CRASHED);
	assert(guarded(go_on, &n, &brief) == GUARD_LATE);
	assert(guarded(answer, &value, &limits) == GUARD_ENDED);
	getrlimit(RLIMIT_AS, &now);
	assert(now.rlim_cur == before.rlim_cur);
	return 0;
}
