// SPDX-License-Identifier: Apache-2.0
/* recording_merge.c - see recording_merge.h. A key is compared by its parts: texts and frames of the new recording,
 * where equal ones have one number. */
#include "recording_merge.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "recording.h"

/* A key and its sum. */
struct sum {
	size_t size;
	const uint8_t *key; /* key_of() */
	size_t parts;
	uint64_t *values, weight;
};

struct merged {
	struct recorded_map *map;
	bool has_host, overflows;
	void *tree; /* of struct sum */
	VEC(struct sum *) list;
};

struct merger {
	struct recording *to;
	VEC(struct merged *) maps;
	bool by_host;
	const struct recording *from; /* the present one */
	const char *host;
	uint32_t *frames; /* numbers of its frames in the new recording */
};

/* ---- keys ---------------------------------------------------------------- */

static void add_bytes(struct str *key, const void *data, size_t n)
{
	str_addn(key, data, n);
}

static uint32_t text_of(struct merger *m, uint32_t text)
{
	return text == NO_TEXT ? NO_TEXT : recording_add_text(m->to, recording_text(m->from, text));
}

/* Appends the part in the new recording to its parts, and its bytes to the key. */
static void copy_part(struct merger *m, const struct recorded_part *p, struct str *key)
{
	struct recorded_part part = *p;

	part.text = text_of(m, p->text);
	part.first = m->to->ids.len;
	for (uint32_t i = 0; p->is_stack && i < p->n; i++)
		vec_push(&m->to->ids, m->frames[m->from->ids.data[p->first + i]]);
	vec_push(&m->to->parts, part);
	add_bytes(key, &part.text, sizeof(part.text));
	add_bytes(key, &part.n, sizeof(part.n));
	if (part.n)
		add_bytes(key, m->to->ids.data + part.first, part.n * sizeof(uint32_t));
}

static void add_host(struct merger *m, struct str *key)
{
	struct recorded_part part = {.text = recording_add_text(m->to, m->host)};

	vec_push(&m->to->parts, part);
	add_bytes(key, &part.text, sizeof(part.text));
}

static int by_key(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->size != y->size ? (x->size < y->size ? -1 : 1) : memcmp(x->key, y->key, x->size);
}

/* Finds the sum of a key. If there is one already, the copy of its parts goes. */
static struct sum *sum_of(struct merger *m, struct merged *to, const struct recorded_part *parts)
{
	size_t first_part = m->to->parts.len, first_id = m->to->ids.len;
	struct str key = {};
	struct sum wanted, **found, *s;

	str_add(&key, ""); /* a table may have no columns */
	if (to->has_host)
		add_host(m, &key);
	for (unsigned i = to->has_host; i < to->map->ncolumns; i++)
		copy_part(m, parts++, &key);
	wanted = (struct sum){.size = key.len, .key = (const uint8_t *)key.data};
	found = tfind(&wanted, &to->tree, by_key);
	if (found) {
		m->to->parts.len = first_part;
		m->to->ids.len = first_id;
		str_done(&key);
		return *found;
	}
	s = arena_new_obj(m->to->arena, struct sum);
	*s = (struct sum){.size = key.len, .parts = first_part};
	s->key = memcpy(arena_alloc(m->to->arena, key.len + 1), key.data, key.len);
	s->values = arena_new_array(m->to->arena, uint64_t, to->map->nvalues);
	str_done(&key);
	if (!tsearch(s, &to->tree, by_key))
		out_of_memory();
	vec_push(&to->list, s);
	return s;
}

/* ---- values -------------------------------------------------------------- */

static bool is_limit(const struct type *t)
{
	return t->kind == TYPE_AGG && (t->agg.kind == AGG_MIN || t->agg.kind == AGG_MAX);
}

/* min(), max(): the value, and whether it is set (bpf/lib/record.h, agg_minmax). */
static void add_limit(const struct type *t, uint64_t *to, const uint64_t *from)
{
	bool less = t->is_signed ? (int64_t)from[0] < (int64_t)to[0] : from[0] < to[0];

	if (from[1] && (!to[1] || (t->agg.kind == AGG_MIN) == less))
		memcpy(to, from, 2 * sizeof(*to));
}

/* Returns false if a sum of numbers from 0 on is more than 64 bits. */
static bool add_values(const struct recorded_map *m, uint64_t *to, const uint64_t *from)
{
	const struct type *t = &m->value;
	bool may_fall = t->is_signed && (t->agg.kind == AGG_SUM || t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS);
	bool ok = true;

	if (is_limit(t)) {
		add_limit(t, to, from);
		return true;
	}
	for (unsigned i = 0; i < m->nvalues; i++) {
		to[i] = t->kind == TYPE_INT ? from[i] : to[i] + from[i];
		ok &= to[i] >= from[i] || may_fall;
	}
	return ok;
}

/* ---- maps ---------------------------------------------------------------- */

static bool same_value(const struct type *a, const struct type *b)
{
	if (a->kind != b->kind || a->is_signed != b->is_signed)
		return false;
	return a->kind != TYPE_AGG || (a->agg.kind == b->agg.kind && a->agg.buckets == b->agg.buckets &&
		a->agg.bits == b->agg.bits && a->agg.min == b->agg.min && a->agg.max == b->agg.max &&
		a->agg.step == b->agg.step);
}

static bool same_columns(const struct recorded_column *a, const struct recorded_column *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(a[i].label, b[i].label) != 0 || a[i].is_stack != b[i].is_stack ||
			a[i].is_kernel != b[i].is_kernel ||
			a[i].mode != b[i].mode)
			return false;
	return true;
}

static bool same_map(const struct merged *to, const struct recorded_map *m)
{
	const struct recorded_map *t = to->map;

	return t->is_table == m->is_table && !strcmp(t->name, m->name) && !strcmp(t->unit, m->unit) &&
	t->div == m->div &&
		t->ncolumns == m->ncolumns + to->has_host && t->nvalues == m->nvalues && same_value(&t->value,
		&m->value) &&
		same_columns(t->columns + to->has_host, m->columns, m->ncolumns);
}

static const char *kept(struct recording *r, const char *text)
{
	return recording_text(r, recording_add_text(r, text));
}

static struct merged *merged_of(struct merger *m, const struct recorded_map *from)
{
	bool has_host = m->by_host || from->value.kind == TYPE_INT;
	struct merged *new;
	struct recorded_map *map;

	for (size_t i = 0; i < m->maps.len; i++)
		if (same_map(m->maps.data[i], from))
			return m->maps.data[i];
	new = arena_new_obj(m->to->arena, struct merged);
	map = recording_add_map(m->to, from->name, &from->value, from->ncolumns + has_host);
	*new = (struct merged){.map = map, .has_host = has_host};
	if (from->is_table)
		recording_make_table(m->to);
	map->unit = kept(m->to, from->unit);
	map->div = from->div;
	map->begun = from->begun;
	map->window = true; /* a later map of the same name has other values */
	if (has_host)
		map->columns[0] = (struct recorded_column){.label = "host"};
	for (unsigned i = 0; i < from->ncolumns; i++) {
		map->columns[i + has_host] = from->columns[i];
		map->columns[i + has_host].label = kept(m->to, from->columns[i].label);
	}
	vec_push(&m->maps, new);
	return new;
}

static void add_map(struct merger *m, const struct recorded_map *from)
{
	struct merged *to = merged_of(m, from);
	struct recorded_map *map = to->map;

	map->ns = from->ns > map->ns ? from->ns : map->ns;
	map->begun = from->begun < map->begun ? from->begun : map->begun;
	map->negative += from->negative;
	for (size_t i = 0; i < from->entries.len; i++) {
		const struct recorded_entry *e = &from->entries.data[i];

		to->overflows |= !add_values(map, sum_of(m, to, m->from->parts.data + e->parts)->values, e->values);
	}
}

/* The arena owns the sums. */
static void keep_sum(void *sum)
{
}

static int by_weight(const void *a, const void *b)
{
	const struct sum *x = *(struct sum *const *)a, *y = *(struct sum *const *)b;

	return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Entries ascend by their values. */
static bool finish_map(struct recording *r, struct merged *m)
{
	bool ok = !m->overflows;

	for (size_t i = 0; i < m->list.len; i++)
		recording_weight(&m->map->value, m->list.data[i]->values, &m->list.data[i]->weight);
	if (m->list.len)
		qsort(m->list.data, m->list.len, sizeof(*m->list.data), by_weight);
	for (size_t i = 0; i < m->list.len; i++) {
		uint64_t before = m->map->total;

		recording_add_entry(r, m->map, m->list.data[i]->parts, m->list.data[i]->values);
		ok &= m->map->total >= before;
	}
	if (!ok)
		log_error("the sum of all values of @%s is more than 64 bits", m->map->name);
	return ok;
}

/* ---- recordings ---------------------------------------------------------- */

static void add_frames(struct merger *m)
{
	const struct recording *from = m->from;

	m->frames = calloc(from->frames.len + 1, sizeof(*m->frames));
	if (!m->frames)
		out_of_memory();
	for (size_t i = 0; i < from->frames.len; i++)
		m->frames[i] = recording_add_frame(m->to, &from->frames.data[i].shown, from->frames.data[i].build_id);
}

static void add_lines(struct merger *m)
{
	for (size_t i = 0; i < m->from->lines.len; i++) {
		struct recorded_line line = {};

		if (m->from->lines.data[i].has_table)
			continue;
		line.text = arena_printf(m->to->arena, "%s: %s", m->host, m->from->lines.data[i].text);
		if (m->from->lines.data[i].problem)
			line.problem = arena_printf(m->to->arena, "%s: %s", m->host, m->from->lines.data[i].problem);
		vec_push(&m->to->lines, line);
	}
}

static void add_recording(struct merger *m, const struct recording *from, const char *host)
{
	m->from = from;
	m->host = host;
	add_frames(m);
	for (size_t i = 0; i < from->maps.len; i++)
		if (!recording_repeats(from->maps.data, from->maps.len, i))
			add_map(m, from->maps.data[i]);
	for (size_t i = 0; i < from->tables.len; i++)
		if (!recording_repeats(from->tables.data, from->tables.len, i))
			add_map(m, from->tables.data[i]);
	add_lines(m);
	free(m->frames);
}

static void add_about(struct merger *m, size_t n, const struct str *hosts, unsigned nhosts)
{
	const struct recording *first = m->from;

	m->to->version = first->version ? kept(m->to, first->version) : NULL;
	m->to->host = kept(m->to, str_text(hosts));
	m->to->about = arena_printf(m->to->arena, "%zu recordings of %u host%s: %s", n, nhosts, nhosts == 1 ? "" : "s",
		str_text(hosts));
}

static bool is_new_host(struct recording *const *list, const char *const *names, size_t at)
{
	const char *host = list[at]->host ? list[at]->host : names[at];

	for (size_t i = 0; i < at; i++)
		if (!strcmp(list[i]->host ? list[i]->host : names[i], host))
			return false;
	return true;
}

struct recording *recording_merge(struct recording *const *list, const char *const *names, size_t n, bool by_host)
{
	struct merger m = {.to = recording_new(), .by_host = by_host};
	struct str hosts = {};
	unsigned nhosts = 0;
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		const char *host = list[i]->host ? list[i]->host : names[i];

		if (is_new_host(list, names, i))
			str_addf(&hosts, "%s%s", nhosts++ ? ", " : "", host);
		add_recording(&m, list[i], host);
	}
	add_about(&m, n, &hosts, nhosts);
	str_done(&hosts);
	for (size_t i = 0; i < m.maps.len; i++) {
		ok &= finish_map(m.to, m.maps.data[i]);
		tdestroy(m.maps.data[i]->tree, keep_sum);
		vec_done(&m.maps.data[i]->list);
	}
	vec_done(&m.maps);
	if (ok)
		return m.to;
	recording_free(m.to);
	return NULL;
}
