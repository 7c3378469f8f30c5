// SPDX-License-Identifier: Apache-2.0
/* clock.h - the kernel's clocks as one number. */
#pragma once
#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock: CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID.. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
