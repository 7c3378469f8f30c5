// SPDX-License-Identifier: Apache-2.0
/* forget.h - drops stacks that no map and no record refers to, so that a script that runs for days does
 * not keep every stack it saw. */
#pragma once
#include <stdint.h>

struct ring_buffer;
struct shared;
struct unwinders;

struct forget { /* zeroed, then */
	const struct shared *shared;
	struct ring_buffer *ring;
	struct unwinders *unwinders;
	enum { FORGET_IDLE, FORGET_RENEWED, FORGET_DRAINING } state;
	uint64_t since;      /* CLOCK_MONOTONIC ns, of that state */
	unsigned long until; /* a position in the ring buffer */
};

/* Takes the next step when its time has come; call it after reading records. */
void forget_step(struct forget *f);
