// SPDX-License-Identifier: Apache-2.0
/* texts.c - texts that many names share, each kept once. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "idmap.h"
#include "unwinders.h"

struct texts {
	struct arena *arena;
	struct idmap by_hash; /* -> struct text * */
};

struct text {
	struct text *next; /* next text with the same hash */
	char text[];
};

struct texts *texts_new(void)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (t)
		t->arena = arena_new();
	return t;
}

void texts_free(struct texts *t)
{
	if (!t)
		return;
	idmap_done(&t->by_hash);
	arena_free(t->arena);
	free(t);
}

size_t texts_bytes(const struct texts *t)
{
	return arena_size(t->arena) + t->by_hash.cap * sizeof(*t->by_hash.slot);
}

const char *texts_keep(struct texts *t, const char *text)
{
	size_t len = strlen(text);
	uint64_t h = STACK_HASH_SEED;
	struct text *first, *new;

	for (size_t i = 0; i < len; i++)
		h = STACK_HASH(h, (uint8_t)text[i]);
	first = idmap_pointer(&t->by_hash, h | 1);
	for (struct text *known = first; known; known = known->next)
		if (!strcmp(known->text, text))
			return known->text;
	new = arena_alloc(t->arena, sizeof(*new) + len + 1);
	new->next = first;
	memcpy(new->text, text, len + 1);
	idmap_set(&t->by_hash, h | 1, (uintptr_t)new);
	return new->text;
}
