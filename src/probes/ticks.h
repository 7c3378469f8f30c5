/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - replaces lost ticks of interval probes.
 *
 * The kernel does not run a perf event's program while its CPU runs another BPF program (bpf_prog_active, in
 * kernel/events/core.c): on a CPU with a busy probe most ticks are lost, and with them exit() of a script. Such
 * a program counts its runs. After each tick strata checks the count, and if there was no run it makes one: the
 * program has a second event as well, the page faults of this thread, which is enabled for only one fault. The
 * thread moves to the CPU of the timer for it, so that two runs do not overlap. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct tick {
	uint32_t image;
	uint64_t *runs;    /* counts of the image's programs: a page, mapped */
	size_t prog;       /* index of its program */
	uint64_t seen;     /* the last count */
	int event;         /* the second event */
	int cpu;           /* of the timer */
	uint64_t period, next; /* ns; time of the next check, CLOCK_MONOTONIC */
};

struct ticks { /* zero it, then call ticks_open() */
	int timer;
	VEC(struct tick) list;
};

/* The timer's events must lead to ticks_run(). Returns 0 on success, -errno on failure. */
int ticks_open(struct ticks *t);
/* A program of the image was just attached to a timer; it counts its runs in entry prog of IMAGE_TICKS, which is map.
 * The caller fills in image, prog, period, cpu (of the timer) and event: one of ticks_event(), to which the program is
 * also attached; always taken. Returns 0 on success, -errno on failure: ticks may then be lost. */
int ticks_add(struct ticks *t, const struct tick *new, int map);
/* Returns an event that does not count yet, or -errno. */
int ticks_event(void);
/* Returns whether the period is long enough to replace its ticks. */
bool ticks_wants(uint64_t period);
/* Must be called in the thread that called ticks_event(). */
void ticks_run(struct ticks *t);
/* The image's probes will be detached now. */
void ticks_drop(struct ticks *t, uint32_t image);
void ticks_close(struct ticks *t);
