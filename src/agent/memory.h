/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the memory of the agent and its units: measured each second, and shared out among the units, so that all
 * together stay below one limit (memory_all).
 *
 * What counts: the pages of each process, where a page that several processes have counts once, by shares, and the
 * tables of the unwinders in the kernel. Pages of mapped files count, although the kernel could take them back: top and
 * control groups count them, too, and a unit gives them back first. Maps of scripts do not count; max_map_keys
 * bounds them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct allowances;

#define MEMORY_ALL_MAX ((uint64_t)1 << 40)

struct unit;

/* One process. */
struct measure {
	uint64_t resident, shared; /* bytes of its pages, and those of them that count for other processes */
	uint64_t shared_at;        /* CLOCK_MONOTONIC ns of the last look at shared; 0: none */
	uint64_t resident_then;    /* resident at that time */
	uint64_t bytes;            /* resident - shared */
};

/* Reads the pages of a process. Shared ones are read every ten seconds, and when their number may have changed: that
 * takes a millisecond per 20 MB. */
void measure(struct measure *m, pid_t pid, uint64_t now);

struct memory {
	int fd;            /* the file of base/allowance.h; -1: none */
	struct allowances *shared; /* it */
	struct measure own;
	uint64_t all;      /* bytes of the agent and its units, at the last look */
	uint64_t limit;    /* memory_all at that time */
	uint64_t over;     /* number of measurements above the limit */
	bool reported;
	unsigned busy;     /* looks in a row at which a unit had memory for a short time */
	unsigned asked;    /* looks in a row at which units were asked for room */
};

/* Returns 0 on success, -errno on failure. */
int memory_open(struct memory *m);
void memory_close(struct memory *m);
/* Measures the agent, adds up all processes, which have been measured, and shares `limit` out. 0: no limit. */
void memory_share(struct memory *m, const struct unit *units, uint64_t limit, uint64_t now);
