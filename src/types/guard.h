/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - runs a function of a library that hostile input crashes or keeps busy: libclang limits neither
 * its recursion nor its time nor its memory. */
#pragma once
#include <stddef.h>
#include <stdbool.h>

enum guard_end {
	GUARD_ENDED,
	GUARD_CRASHED, /* the library must not be used any more */
	GUARD_LATE,    /* it did not end in time; its thread stands still for ever, and what it has is lost */
};

struct guard_limits {
	unsigned ms;
	size_t bytes; /* of memory that it may map */
};

/* Runs f(arg) in a thread of its own, while the calling thread waits. Not reentrant. */
enum guard_end guarded(void (*f)(void *arg), void *arg, const struct guard_limits *limits);
