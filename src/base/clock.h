// SPDX-License-Identifier: Apache-2.0
/* clock.h - the kernel's clocks as one number. */
#pragma once
#include <stdint.h>
#include <time.h>

/* Returns the time of a clock (CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID..) in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns the timeout for poll() that ends at that time (CLOCK_MONOTONIC ns), rounded up. It is at most an
 * hour, after which the caller polls once more; it is -1 for UINT64_MAX. */
static inline int clock_ms_until(uint64_t at)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), ms = at > now ? (at - now) / 1000000 + 1 : 0;

	return at == UINT64_MAX ? -1 : ms < 3600000 ? (int)ms : 3600000;
}
