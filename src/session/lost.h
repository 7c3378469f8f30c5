/* SPDX-License-Identifier: Apache-2.0 */
/* lost.h - blocks of memory that a process can no longer reach. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

struct block {
	uint64_t addr, size; /* size: at least 1 */
	bool is_found;       /* a pointer into the block was seen outside of it */
	size_t index;        /* the caller's */
};

/* Looks for pointers into the blocks, which are sorted by address, in the process's writable memory and in the
 * registers of its threads, while the process runs: memory is searched twice, because a pointer may move. Returns 0 on
 * success, -ETIMEDOUT if the time was not enough, -errno on other failures; then is_found says nothing. */
int lost_search(struct target *t, int pid, struct block *blocks, size_t n, uint64_t max_ns);
