/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - records of the ring buffer that wait in memory.
 *
 * Finishing a walk may take as long as its process's tables: seconds, if a busy machine has to make many.
 * Meanwhile the ring fills, and the kernel stops sending stacks of unknown processes (bpf/walk/lookup.bpf.c,
 * walk_may_ask()). So the ring is also read between two tables. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct backlog_block;

struct backlog { /* zero it, then set the limit */
	struct backlog_block *first, *last;
	size_t bytes; /* size of the waiting records */
	size_t limit; /* size at which it is full */
};

/* Adds a copy, also if the backlog is full, because the record cannot be put back. Running out of
 * memory ends the program. */
void backlog_put(struct backlog *b, const void *record, size_t size);
bool backlog_is_full(const struct backlog *b);
/* Returns the oldest record, aligned to 8 bytes and valid until backlog_drop(), or NULL if none waits. */
const void *backlog_first(const struct backlog *b, size_t *ret_size);
/* Removes the oldest record. */
void backlog_drop(struct backlog *b);
void backlog_done(struct backlog *b);
