/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - no tick of an interval probe is lost.
 *
 * The kernel runs no program of a perf event while its CPU runs another BPF program (bpf_prog_active, in
 * kernel/events/core.c): beside a busy probe on that CPU most ticks are lost, exit() of a script with them. Such a
 * program counts its runs. After each tick strata looks at the count, and where there was no run it makes one: the
 * program has a second event as well, the page faults of this thread, off but for the time of one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct tick {
	uint32_t image;
	uint64_t *runs;    /* of the image's programs: a page, mapped */
	size_t prog;       /* whose count is looked at */
	uint64_t seen;     /* of its runs */
	int event;         /* the second one */
	uint64_t period, next; /* ns; when it is looked at, CLOCK_MONOTONIC */
};

struct ticks { /* zeroed, then ticks_open() */
	int timer;
	VEC(struct tick) list;
};

/* The timer's events are to lead to ticks_run(). 0 or -errno. */
int ticks_open(struct ticks *t);
/* A program of the image has just been attached to a timer of that period; it counts in entry prog of IMAGE_TICKS,
 * which is map. event: a perf event, attached too, which must be ticks_event()'s; taken in any case. 0 or -errno:
 * ticks may get lost. */
int ticks_add(struct ticks *t, uint32_t image, int map, size_t prog, int event, uint64_t period);
/* An event that does not count yet; -errno. */
int ticks_event(void);
/* Whether ticks of that period are worth it. */
bool ticks_wants(uint64_t period);
/* In the thread that called ticks_event(). */
void ticks_run(struct ticks *t);
/* The image's probes are about to be detached. */
void ticks_drop(struct ticks *t, uint32_t image);
void ticks_close(struct ticks *t);
