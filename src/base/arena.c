// SPDX-License-Identifier: Apache-2.0
/* arena.c - the arena is a list of blocks. Objects are cut from the start of a block. */
#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Bytes of a block. Many arenas stay small, such as that of a small program's debug information: the first block has
 * FIRST bytes, and each further one as many as all before it, up to BLOCK. An arena that has SEVERAL bytes will have
 * many, so its blocks are LARGE and have huge pages. */
enum { FIRST = 1 << 10, BLOCK = 64 << 10, SEVERAL = 4 << 20, LARGE = 4 << 20 };

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct arena {
	struct block *blocks; /* newest first; only the first block has free bytes */
	size_t size;          /* of all blocks */
};

struct arena *arena_new(void)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		out_of_memory();
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (struct block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

size_t arena_size(const struct arena *a)
{
	return a->size;
}

static size_t block_size(const struct arena *a)
{
	if (a->size >= SEVERAL)
		return LARGE;
	return a->size < FIRST ? FIRST : a->size < BLOCK ? a->size : BLOCK;
}

static void add_block(struct arena *a, size_t need)
{
	size_t least = block_size(a), capacity = need > least ? need : least;
	struct block *b = calloc(1, sizeof(*b) + capacity);

	if (!b)
		out_of_memory();
	memory_use_huge_pages(b, sizeof(*b) + capacity);
	b->size = capacity;
	b->next = a->blocks;
	a->blocks = b;
	a->size += capacity;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b = a->blocks;
	size_t need;
	void *p;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	need = (size + 15) & ~(size_t)15;
	if (!b || b->size - b->used < need) {
		add_block(a, need);
		b = a->blocks;
	}
	p = b->data + b->used;
	b->used += need;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}
