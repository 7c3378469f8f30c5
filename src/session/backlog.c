// SPDX-License-Identifier: Apache-2.0
/* backlog.c - a queue in blocks: read records are freed a block at a time. */
#include "backlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 1 << 20 };

struct backlog_block {
	struct backlog_block *next;
	size_t size, begin, end; /* size of data; records are between begin and end */
	char data[];
};

/* precedes each record */
struct entry {
	size_t size;
	char record[];
};

static size_t rounded(size_t size)
{
	return (sizeof(struct entry) + size + 7) & ~(size_t)7;
}

static struct backlog_block *new_block(size_t at_least)
{
	size_t size = at_least > BLOCK ? at_least : BLOCK;
	struct backlog_block *block = malloc(sizeof(*block) + size);

	if (!block)
		out_of_memory();
	*block = (struct backlog_block){.size = size};
	return block;
}

void backlog_put(struct backlog *b, const void *record, size_t size)
{
	size_t n = rounded(size);
	struct entry *e;

	if (!b->last || b->last->size - b->last->end < n) {
		struct backlog_block *block = new_block(n);

		*(b->last ? &b->last->next : &b->first) = block;
		b->last = block;
	}
	e = (struct entry *)(b->last->data + b->last->end);
	e->size = size;
	memcpy(e->record, record, size);
	b->last->end += n;
	b->bytes += n;
}

bool backlog_is_full(const struct backlog *b)
{
	return b->bytes >= b->limit;
}

const void *backlog_first(const struct backlog *b, size_t *ret_size)
{
	const struct entry *e;

	if (!b->bytes)
		return NULL;
	e = (const struct entry *)(b->first->data + b->first->begin);
	*ret_size = e->size;
	return e->record;
}

void backlog_drop(struct backlog *b)
{
	struct backlog_block *block = b->first;
	size_t n = rounded(((const struct entry *)(block->data + block->begin))->size);

	block->begin += n;
	b->bytes -= n;
	if (block->begin < block->end)
		return;
	b->first = block->next;
	if (!b->first)
		b->last = NULL;
	free(block);
}

void backlog_done(struct backlog *b)
{
	while (b->bytes)
		backlog_drop(b);
}
