/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - runs a function of a library that hostile input can crash or keep busy. libclang does not limit
 * its recursion, time or memory. */
#pragma once
#include <stddef.h>
#include <stdbool.h>

enum guard_end {
	GUARD_ENDED,
	GUARD_CRASHED, /* the library must not be used any more */
	GUARD_LATE,    /* it did not end in time; its thread is stopped for ever, and its memory is lost */
};

struct guard_limits {
	unsigned ms;
	size_t bytes; /* the most memory that it may map */
};

/* Runs f(arg) in another thread and waits for it. Not reentrant. */
enum guard_end guarded(void (*f)(void *arg), void *arg, const struct guard_limits *limits);
