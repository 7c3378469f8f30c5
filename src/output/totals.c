// SPDX-License-Identifier: Apache-2.0
/* totals.c - for each map that is taken, a tree of its keys with the sums of their values. */
#include "totals.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "model/image.h"
#include "model/type.h"
#include "values/entries.h"

/* The limit of OpenTelemetry's SDKs on the series of a metric (specification v1.60.0, metrics/sdk.md, "Cardinality
 * limits"). */
enum { KEYS_MAX = 2000 };

struct total {
	uint32_t size; /* bytes of the key */
	uint64_t *value;
	const uint8_t *key; /* after the search: own_key */
	uint8_t own_key[];
};

struct map_totals {
	const struct image_map *map;
	uint64_t begun; /* CLOCK_REALTIME ns of the last window's end */
	void *tree;     /* of struct total */
	VEC(struct total *) list; /* in the order of their first print */
	uint64_t *rest; /* the sum of all other keys; NULL: there are none */
};

struct totals {
	uint64_t begun;
	VEC(struct map_totals *) maps;
};

static void *allocate(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		out_of_memory();
	return p;
}

struct totals *totals_new(uint64_t begun)
{
	struct totals *t = allocate(sizeof(*t));

	t->begun = begun;
	return t;
}

static void free_total(void *p)
{
	struct total *total = p;

	free(total->value);
	free(total);
}

void totals_free(struct totals *t)
{
	for (size_t i = 0; t && i < t->maps.len; i++) {
		struct map_totals *m = t->maps.data[i];

		tdestroy(m->tree, free_total);
		vec_done(&m->list);
		free(m->rest);
		free(m);
	}
	if (t)
		vec_done(&t->maps);
	free(t);
}

static struct map_totals *find(const struct totals *t, const struct image_map *map)
{
	for (size_t i = 0; i < t->maps.len; i++)
		if (t->maps.data[i]->map == map)
			return t->maps.data[i];
	return NULL;
}

static struct map_totals *find_or_add(struct totals *t, const struct image_map *map)
{
	struct map_totals *m = find(t, map);

	if (m)
		return m;
	m = allocate(sizeof(*m));
	m->map = map;
	m->begun = t->begun;
	vec_push(&t->maps, m);
	return m;
}

uint64_t totals_begun(const struct totals *t, const struct image_map *map)
{
	const struct map_totals *m = find(t, map);

	return m ? m->begun : t->begun;
}

void totals_begin(struct totals *t, const struct image_map *map, uint64_t ns)
{
	find_or_add(t, map)->begun = ns;
}

/* ---- sums ---------------------------------------------------------------- */

/* Values that are words whose sum is the value of both. */
static bool has_sum(const struct type *t)
{
	if (t->kind != TYPE_AGG)
		return false;
	switch (t->agg.kind) {
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_AVG:
	case AGG_STATS:
	case AGG_HIST:
	case AGG_LHIST:
		return true;
	case AGG_MIN:
	case AGG_MAX:
	case AGG_TSERIES:
		break;
	}
	return false;
}

static int by_key(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return memcmp(x->key, y->key, x->size);
}

/* Returns the sum of a key. A new key gets one, or shares `rest`. */
static uint64_t *sum_of(struct map_totals *m, const uint8_t *key)
{
	struct total wanted = {.size = m->map->key_size, .key = key}, **found = tfind(&wanted, &m->tree, by_key), *t;

	if (found)
		return (*found)->value;
	if (m->list.len >= KEYS_MAX) {
		m->rest = m->rest ? m->rest : allocate(m->map->value_size);
		return m->rest;
	}
	t = allocate(sizeof(*t) + m->map->key_size);
	memcpy(t->own_key, key, m->map->key_size);
	t->key = t->own_key;
	t->size = m->map->key_size;
	t->value = allocate(m->map->value_size);
	if (!tsearch(t, &m->tree, by_key))
		out_of_memory();
	vec_push(&m->list, t);
	return t->value;
}

static void add(const struct map_totals *m, uint64_t *to, const uint8_t *value, int sign)
{
	const uint64_t *from = (const uint64_t *)value;

	for (uint32_t i = 0; i < m->map->value->size / 8; i++)
		to[i] += sign > 0 ? from[i] : -from[i];
}

static void add_all(struct map_totals *m, const struct map_content *c, int sign)
{
	for (size_t i = c->first; i < c->n; i++)
		add(m, sum_of(m, c->list[i].key), c->list[i].value, sign);
}

static void copy(struct map_content *to, const struct map_totals *m, uint8_t *key, const uint64_t *value)
{
	struct map_entry *e = &to->list[to->n++];

	e->key = key;
	e->value = allocate(m->map->value_size);
	memcpy(e->value, value, m->map->value_size);
}

struct map_content totals_add(struct totals *t, const struct map_content *c)
{
	struct map_totals *m = find(t, c->map);
	struct map_content sum = *c;

	if (!has_sum(c->map->value) || (!m && !c->taken))
		return sum;
	m = find_or_add(t, c->map);
	add_all(m, c, 1);
	sum.first = sum.n = 0;
	sum.list = allocate((m->list.len + 1) * sizeof(*sum.list));
	for (size_t i = 0; i < m->list.len; i++)
		copy(&sum, m, m->list.data[i]->own_key, m->list.data[i]->value);
	if (m->rest)
		copy(&sum, m, NULL, m->rest);
	if (!c->taken)
		add_all(m, c, -1);
	return sum;
}

void totals_content_done(struct map_content *sum, const struct map_content *c)
{
	if (sum->list == c->list)
		return;
	for (size_t i = 0; i < sum->n; i++)
		free(sum->list[i].value);
	free(sum->list);
}
