/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - records of the ring buffer that wait in memory for their turn.
 *
 * Finishing a walk may take as long as its process' tables: seconds, where many have to be made on a busy machine.
 * Meanwhile the ring fills, and the kernel stops sending stacks of processes that are not known (bpf/walk/
 * lookup.bpf.c, may_ask()). So the ring is read on between two tables. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct backlog_block;

struct backlog { /* zeroed; then the limit is set */
	struct backlog_block *first, *last;
	size_t bytes; /* of records that wait */
	size_t limit; /* where it is full */
};

/* A copy; running out of memory ends the program. Also where it is full: what was read has to go somewhere. */
void backlog_put(struct backlog *b, const void *record, size_t size);
bool backlog_is_full(const struct backlog *b);
/* The oldest; NULL: none waits. Aligned to 8 bytes, there until backlog_drop(). */
const void *backlog_first(const struct backlog *b, size_t *ret_size);
/* The oldest has had its turn. */
void backlog_drop(struct backlog *b);
void backlog_done(struct backlog *b);
