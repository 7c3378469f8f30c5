// SPDX-License-Identifier: Apache-2.0
/* idmap.c - maps 64-bit numbers to others, by open addressing. */
#include "idmap.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

void idmap_done(struct idmap *m)
{
	free(m->slot);
	*m = (struct idmap){};
}

static size_t home_of(const struct idmap *m, uint64_t key)
{
	return idmap_hash(key, 1) & (m->cap - 1);
}

static struct idmap_entry *slot_of(const struct idmap *m, uint64_t key)
{
	size_t i = home_of(m, key);

	while (m->slot[i].key && m->slot[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

void idmap_expect(const struct idmap *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slot[home_of(m, key)]);
}

uint64_t *idmap_find(const struct idmap *m, uint64_t key)
{
	struct idmap_entry *e;

	if (!key)
		return m->has_zero ? (uint64_t *)&m->zero : NULL;
	if (!m->cap)
		return NULL;
	e = slot_of(m, key);
	return e->key ? &e->value : NULL;
}

static void grow(struct idmap *m)
{
	struct idmap old = *m;

	m->cap = old.cap ? old.cap * 2 : 64;
	m->slot = calloc(m->cap, sizeof(*m->slot));
	if (!m->slot)
		out_of_memory();
	memory_use_huge_pages(m->slot, m->cap * sizeof(*m->slot));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slot[i].key)
			*slot_of(m, old.slot[i].key) = old.slot[i];
	free(old.slot);
}

void idmap_set(struct idmap *m, uint64_t key, uint64_t value)
{
	struct idmap_entry *e;

	if (!key) {
		m->has_zero = true;
		m->zero = value;
		return;
	}
	if (2 * m->n >= m->cap)
		grow(m);
	e = slot_of(m, key);
	m->n += !e->key;
	*e = (struct idmap_entry){ key, value };
}

/* Entries after the removed one move up, as far as they may: an entry must not be before its home, and no
 * free slot may be between them. */
void idmap_remove(struct idmap *m, uint64_t key)
{
	size_t mask = m->cap - 1, hole, i;

	if (!key)
		m->has_zero = false;
	if (!key || !m->cap || !slot_of(m, key)->key)
		return;
	hole = (size_t)(slot_of(m, key) - m->slot);
	for (i = (hole + 1) & mask; m->slot[i].key; i = (i + 1) & mask) {
		if (((i - home_of(m, m->slot[i].key)) & mask) < ((i - hole) & mask))
			continue;
		m->slot[hole] = m->slot[i];
		hole = i;
	}
	m->slot[hole] = (struct idmap_entry){};
	m->n--;
}
