// SPDX-License-Identifier: Apache-2.0
/* forget.h - drops stacks to which no map and no record refers, so that a script that runs for days
 * does not keep every stack. */
#pragma once
#include <stdint.h>

struct pace;
struct shared;
struct unwinders;

struct forget { /* zero it, then set */
	const struct shared *shared;
	const struct pace *pace; /* of the ring buffer */
	struct unwinders *unwinders;
	/* Calls f for each stack in records that wait. */
	void (*each_waiting)(void *waiting, void (*f)(void *arg, uint64_t id), void *arg);
	void *waiting;
	enum { FORGET_IDLE, FORGET_RENEWED, FORGET_DRAINING } state;
	uint64_t since;      /* start of the present state, CLOCK_MONOTONIC ns */
	unsigned long until; /* a position in the ring buffer */
};

/* Takes the next step if it is due; call it after reading records. */
void forget_step(struct forget *f);
