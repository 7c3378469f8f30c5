// SPDX-License-Identifier: Apache-2.0
/* order.c - sorts the entries of a map.
 *
 * A comparison follows the pointers of two entries and waits for memory. With a million entries, that took half of the
 * time of printing them. So each entry has the first 16 bytes of its order as two numbers, and a radix sort reads only
 * these. Entries with equal numbers are compared, unless the numbers are the whole order. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "entries.h"
#include "model/type.h"
#include "show.h"

/* ---- comparisons -------------------------------------------------------- */

static int compare_ints(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	int64_t x = show_int(t, a), y = show_int(t, b);

	if (t->is_signed)
		return (x > y) - (x < y);
	return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
}

static int compare_values(const struct type *t, const uint8_t *a, const uint8_t *b);

/* Compares bytes; if they are equal, the shorter one is first. */
static int compare_buffers(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	const uint8_t *x, *y;
	uint32_t n = show_buffer(t, a, &x), m = show_buffer(t, b, &y);
	int r = memcmp(x, y, n < m ? n : m);

	return r ? r : (n > m) - (n < m);
}

static int compare_arrays(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	uint32_t size = t->array.of->size;
	int r = 0;

	for (uint32_t i = 0; size && i < t->array.n && !r; i++)
		r = compare_values(t->array.of, a + (size_t)i * size, b + (size_t)i * size);
	return r;
}

/* A union does not say which of its members is valid. */
static int compare_structs(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	const struct composite *c = composite_of(t);
	int r = 0;

	if (c->is_union || !c->n)
		return memcmp(a, b, t->size);
	for (unsigned i = 0; i < c->n && !r; i++) {
		const struct member *m = &c->members[i];
		uint8_t x[8], y[8];
		const uint8_t *from = show_member(t, m, a, x);

		if (from && m->type->size)
			r = compare_values(m->type, from, show_member(t, m, b, y));
	}
	return r;
}

static int compare_values(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	int r = 0;

	switch ((int)t->kind) {
	case TYPE_STRING:
		return strncmp((const char *)a, (const char *)b, t->size);
	case TYPE_USYM:
		return memcmp(a, b, t->size);
	case TYPE_BUFFER:
		return compare_buffers(t, a, b);
	case TYPE_ARRAY:
		return compare_arrays(t, a, b);
	case TYPE_STRUCT:
		return compare_structs(t, a, b);
	case TYPE_TUPLE:
		for (unsigned i = 0; i < t->tuple.n && !r; i++)
			r = compare_values(t->tuple.members[i], a + t->tuple.offsets[i],
				b + t->tuple.offsets[i]);
		return r;
	default:
		return compare_ints(t, a, b);
	}
}

static uint64_t total(const struct type *t, const uint64_t *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->agg.buckets; i++)
		sum += v[i];
	return sum;
}

/* Returns the number by which an aggregation is sorted: stats() of stacks by their total, which is their share. */
static int64_t rank(const struct type *t, const uint8_t *value, bool by_total)
{
	const uint64_t *v = (const uint64_t *)value;

	switch (t->agg.kind) {
	case AGG_HIST:
	case AGG_LHIST:
		return total(t, v);
	case AGG_STATS:
		if (by_total)
			return (int64_t)v[1];
		[[fallthrough]];
	case AGG_AVG:
		return v[0] ? (int64_t)v[1] / (int64_t)v[0] : 0;
	case AGG_TSERIES: /* by key */
		return 0;
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		break;
	}
	return v[0];
}

static int compare_entries(const void *pa, const void *pb, void *arg)
{
	const struct map_entry *a = pa, *b = pb;
	const struct image_map *m = arg;
	int r = (a->order > b->order) - (a->order < b->order);

	if (!r && m->value->kind != TYPE_AGG)
		r = compare_values(m->value, a->value, b->value);
	return !r && m->key ? compare_values(m->key, a->key, b->key) : r;
}

/* ---- numbers ------------------------------------------------------------ */

/* Sets the number by which the entries are sorted first. */
static void find_order(struct map_content *c)
{
	const struct type *t = c->map->value;
	bool stacks = type_has(c->map->key, TYPE_STACK), is_signed = t->is_signed;

	if (t->kind == TYPE_AGG)
		is_signed |= t->agg.kind >= AGG_AVG;
	else if (t->kind != TYPE_INT)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct map_entry *e = &c->list[i];
		uint64_t v = t->kind == TYPE_INT ? (uint64_t)show_int(t, e->value) :
						   (uint64_t)rank(t, e->value, stacks);

		e->order = is_signed ? v ^ 1ULL << 63 : v;
	}
}

/* Returns the first bytes as a number that is ordered like them: a string ends with its NUL. */
static uint64_t first_bytes(const uint8_t *data, uint32_t size, bool text)
{
	uint64_t v = 0;
	bool ended = false;

	for (uint32_t i = 0; i < 8; i++) {
		ended |= i >= size || (text && !data[i]);
		v = v << 8 | (ended ? 0 : data[i]);
	}
	return v;
}

/* Returns whether one number is the whole order of the type's values. */
static bool is_number(const struct type *t)
{
	switch ((int)t->kind) {
	case TYPE_STRING:
	case TYPE_USYM:
	case TYPE_BUFFER:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_TUPLE:
		return false;
	default:
		return true;
	}
}

/* Returns a number for a value. If one value's number is less than another's, compare_values() says the same. */
static uint64_t number_of(const struct type *t, const uint8_t *data)
{
	while (t->kind == TYPE_TUPLE && t->tuple.n) {
		data += t->tuple.offsets[0];
		t = t->tuple.members[0];
	}
	if (t->kind == TYPE_STRING || t->kind == TYPE_USYM)
		return first_bytes(data, t->size, t->kind == TYPE_STRING);
	if (!is_number(t))
		return 0;
	return (uint64_t)show_int(t, data) ^ (t->is_signed ? 1ULL << 63 : 0);
}

/* Returns whether the values' order is in the entries' first number. */
static bool has_order(const struct type *value)
{
	return value->kind == TYPE_AGG || value->kind == TYPE_INT;
}

/* Sets the second numbers. Returns whether both numbers are the whole order. */
static bool find_second(struct map_content *c)
{
	const struct image_map *m = c->map;
	bool by_key = has_order(m->value);
	const struct type *t = by_key ? m->key : m->value;

	if (!t)
		return true;
	for (size_t i = 0; i < c->n; i++)
		c->list[i].second = number_of(t, by_key ? c->list[i].key : c->list[i].value);
	return by_key && is_number(t);
}

/* ---- sort --------------------------------------------------------------- */

static uint64_t number_at(const struct map_entry *e, bool first)
{
	return first ? e->order : e->second;
}

/* Copies the entries in the order of one byte; equal ones stay in their order. */
static void sort_by_byte(const struct map_entry *from, struct map_entry *to, size_t n, bool first, unsigned shift)
{
	size_t at[256] = {}, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[number_at(&from[i], first) >> shift & 255]++;
	for (unsigned i = 0; i < 256; i++) {
		size_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[at[number_at(&from[i], first) >> shift & 255]++] = from[i];
}

/* Sorts by both numbers. Bytes that are equal in all entries cost nothing. */
static void sort_by_numbers(struct map_content *c)
{
	struct map_entry *from = c->list, *to = reallocarray(NULL, c->n, sizeof(*to));
	uint64_t differ[2] = {};

	if (!to)
		out_of_memory();
	memory_use_huge_pages(to, c->n * sizeof(*to));
	for (size_t i = 1; i < c->n; i++) {
		differ[0] |= from[i].second ^ from[0].second;
		differ[1] |= from[i].order ^ from[0].order;
	}
	for (unsigned k = 0; k < 16; k++) {
		struct map_entry *sorted = to;

		if (!(differ[k / 8] >> k % 8 * 8 & 255))
			continue;
		sort_by_byte(from, to, c->n, k / 8, k % 8 * 8);
		to = from;
		from = sorted;
	}
	free(to);
	c->list = from;
	c->cap = c->n;
}

/* Sorts the entries whose numbers are equal. */
static void sort_equal(struct map_content *c)
{
	for (size_t from = 0, to; from < c->n; from = to) {
		const struct map_entry *e = &c->list[from];

		for (to = from + 1; to < c->n && c->list[to].order == e->order && c->list[to].second == e->second;)
			to++;
		if (to - from > 1)
			qsort_r(&c->list[from], to - from, sizeof(*e), compare_entries, (void *)c->map);
	}
}

void entries_sort(struct map_content *c)
{
	bool whole;

	if (c->n < 2)
		return;
	find_order(c);
	whole = find_second(c);
	sort_by_numbers(c);
	if (!whole)
		sort_equal(c);
}
