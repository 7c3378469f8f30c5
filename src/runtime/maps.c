// SPDX-License-Identifier: Apache-2.0
/* maps.c - the script's maps: read, printed, cleared.
 *
 * A map is read whole, per-CPU parts merged, stacks that look alike merged, sorted and
 * printed. */
#include "maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "bpf/record.h"
#include "parser/type.h"
#include "show.h"
#include "unwinders/unwinder.h"

struct entry {
	uint8_t *key;
	uint8_t *value; /* merged */
	char *text;     /* of the key, where that was needed */
};

struct entries {
	struct entry *list;
	size_t n, cap;
	const struct image_map *map;
	const struct show *show;
	bool unset; /* a scalar is wanted though it was never set */
};

static int map_fd(struct bpf_object *obj, const struct image_map *m)
{
	return bpf_object__find_map_fd_by_name(obj, m->bpf_name);
}

/* ---- merging ------------------------------------------------------------ */

static void merge_minmax(const struct type *t, struct agg_minmax *to,
	const struct agg_minmax *from)
{
	bool less = t->is_signed ? (int64_t)from->value < (int64_t)to->value :
				   from->value < to->value;

	if (!from->is_set)
		return;
	if (!to->is_set || (t->agg.kind == AGG_MIN ? less : !less))
		*to = *from;
}

/* One CPU's part, or a stack's other half, into the whole. */
static void merge(const struct type *t, uint8_t *to, const uint8_t *from)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	if (t->kind != TYPE_AGG)
		memcpy(to, from, t->size);
	else if (t->agg.kind == AGG_MIN || t->agg.kind == AGG_MAX)
		merge_minmax(t, (struct agg_minmax *)to, (const struct agg_minmax *)from);
	else
		for (uint32_t i = 0; i < t->size / 8; i++)
			a[i] += b[i];
}

/* ---- reading ------------------------------------------------------------ */

static void real_ids(const struct show *s, const struct type *t, uint8_t *data)
{
	uint64_t id;

	if (t->kind == TYPE_TUPLE) {
		for (unsigned i = 0; i < t->tuple.n; i++)
			real_ids(s, t->tuple.members[i], data + t->tuple.offsets[i]);
	} else if (t->kind == TYPE_STACK && s->unwinders) {
		memcpy(&id, data, 8);
		id = unwinders_real_id(s->unwinders, id);
		memcpy(data, &id, 8);
	}
}

static bool has_stack(const struct type *t)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			if (has_stack(t->tuple.members[i]))
				return true;
	return t->kind == TYPE_STACK;
}

static bool scalar_is_set(const struct image_map *m, const uint8_t *value, int ncpus)
{
	uint64_t set = 0;

	for (int i = 0; i < ncpus && !set; i++)
		memcpy(&set, value + (size_t)(i + 1) * m->value_size - 8, 8);
	return set;
}

static void add_entry(struct entries *e, const uint8_t *key, const uint8_t *value, int ncpus)
{
	const struct image_map *m = e->map;
	const struct type *t = m->value;
	struct entry *to;

	if (!m->key && !e->unset && !scalar_is_set(m, value, ncpus))
		return;
	if (e->n == e->cap) {
		e->cap = e->cap ? e->cap * 2 : 64;
		e->list = reallocarray(e->list, e->cap, sizeof(*e->list));
		if (!e->list)
			abort();
	}
	to = &e->list[e->n++];
	to->text = NULL;
	to->key = malloc(m->key_size);
	to->value = calloc(1, m->value_size);
	if (!to->key || !to->value)
		abort();
	memcpy(to->key, key, m->key_size);
	if (e->map->key)
		real_ids(e->show, e->map->key, to->key);
	for (int i = 0; i < ncpus; i++)
		merge(t, to->value, value + (size_t)i * m->value_size);
}

static int read_all(struct bpf_object *obj, struct entries *e)
{
	int ncpus = e->map->per_cpu ? libbpf_num_possible_cpus() : 1;
	_cleanup_(freep) uint8_t *value = NULL, *key = NULL;
	int fd = map_fd(obj, e->map);
	void *last = NULL;

	value = malloc((size_t)e->map->value_size * ncpus);
	key = malloc(e->map->key_size);
	if (!value || !key)
		return -ENOMEM;
	while (!bpf_map_get_next_key(fd, last, key)) {
		if (!bpf_map_lookup_elem(fd, key, value))
			add_entry(e, key, value, ncpus);
		last = key;
	}
	return 0;
}

static void entry_done(struct entry *entry)
{
	free(entry->key);
	free(entry->value);
	free(entry->text);
}

static void entries_done(struct entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		entry_done(&e->list[i]);
	free(e->list);
}

/* ---- order -------------------------------------------------------------- */

static int compare_ints(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	int64_t x = show_int(t, a), y = show_int(t, b);

	if (t->is_signed)
		return (x > y) - (x < y);
	return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
}

static int compare_values(const struct type *t, const uint8_t *a, const uint8_t *b)
{
	int r = 0;

	if (t->kind == TYPE_STRING)
		return strncmp((const char *)a, (const char *)b, t->size);
	if (t->kind == TYPE_USYM)
		return memcmp(a, b, t->size);
	if (t->kind != TYPE_TUPLE)
		return compare_ints(t, a, b);
	for (unsigned i = 0; i < t->tuple.n && !r; i++)
		r = compare_values(t->tuple.members[i], a + t->tuple.offsets[i],
			b + t->tuple.offsets[i]);
	return r;
}

static uint64_t total(const struct type *t, const uint64_t *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->agg.buckets; i++)
		sum += v[i];
	return sum;
}

/* What an aggregation is sorted by. */
static int64_t rank(const struct type *t, const uint8_t *value)
{
	const uint64_t *v = (const uint64_t *)value;

	switch (t->agg.kind) {
	case AGG_HIST:
	case AGG_LHIST:
		return total(t, v);
	case AGG_AVG:
	case AGG_STATS:
		return v[0] ? (int64_t)v[1] / (int64_t)v[0] : 0;
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
	const struct entry *a = pa, *b = pb;
	const struct entries *e = arg;
	const struct type *t = e->map->value;
	int64_t x, y;
	int r;

	if (t->kind == TYPE_AGG) {
		x = rank(t, a->value);
		y = rank(t, b->value);
		r = t->is_signed || t->agg.kind >= AGG_AVG ? (x > y) - (x < y) :
			((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
	} else {
		r = compare_values(t, a->value, b->value);
	}
	if (!r && e->map->key)
		r = compare_values(e->map->key, a->key, b->key);
	return r;
}

static int compare_keys(const void *pa, const void *pb, void *arg)
{
	const struct entry *a = pa, *b = pb;
	const struct entries *e = arg;

	return memcmp(a->key, b->key, e->map->key_size);
}

/* ---- equal keys --------------------------------------------------------- */

static void add_key(const struct show *s, const struct type *t, const uint8_t *key,
	struct str *out)
{
	str_addc(out, '[');
	if (t->kind != TYPE_TUPLE) {
		show_value(s, t, key, out);
	} else {
		for (unsigned i = 0; i < t->tuple.n; i++) {
			if (i)
				str_add(out, ", ");
			show_value(s, t->tuple.members[i], key + t->tuple.offsets[i], out);
		}
	}
	str_addc(out, ']');
}

static int compare_texts(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

/* Two stacks of one map have ids that differ and may look alike: one was finished in
 * userspace, or a language's frames, which are shown by line, stand elsewhere in it. What was
 * aggregated is added up; of plain values, whose sum may mean nothing, only the same stack's
 * are one. */
static bool are_one(const struct entries *e, const struct entry *a, const struct entry *b)
{
	if (e->map->value->kind == TYPE_AGG)
		return !strcmp(a->text, b->text);
	return !memcmp(a->key, b->key, e->map->key_size);
}

static void merge_equal(struct entries *e)
{
	bool by_text = e->map->value->kind == TYPE_AGG;
	size_t n = 0;

	if (!e->n || !e->map->key || !has_stack(e->map->key))
		return;
	for (size_t i = 0; i < e->n && by_text; i++) {
		struct str text = {};

		add_key(e->show, e->map->key, e->list[i].key, &text);
		e->list[i].text = text.data;
	}
	if (by_text)
		qsort(e->list, e->n, sizeof(*e->list), compare_texts);
	else
		qsort_r(e->list, e->n, sizeof(*e->list), compare_keys, e);
	for (size_t i = 1; i < e->n; i++) {
		if (!are_one(e, &e->list[n], &e->list[i])) {
			e->list[++n] = e->list[i];
			continue;
		}
		merge(e->map->value, e->list[n].value, e->list[i].value);
		entry_done(&e->list[i]);
	}
	e->n = n + 1;
}

/* ---- printing ----------------------------------------------------------- */

static void add_int(struct str *out, bool is_signed, uint64_t v, int64_t div)
{
	if (div > 1)
		v = is_signed ? (uint64_t)((int64_t)v / div) : v / (uint64_t)div;
	if (is_signed)
		str_addf(out, "%" PRId64, (int64_t)v);
	else
		str_addf(out, "%" PRIu64, v);
}

static void show_agg(const struct type *t, const uint8_t *value, int64_t div, struct str *out)
{
	const uint64_t *v = (const uint64_t *)value;
	int64_t average;

	switch (t->agg.kind) {
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		add_int(out, t->is_signed && t->agg.kind != AGG_COUNT, v[0], div);
		break;
	case AGG_AVG:
	case AGG_STATS:
		average = !v[0] ? 0 : t->is_signed ? (int64_t)v[1] / (int64_t)v[0] :
						     (int64_t)(v[1] / v[0]);
		if (t->agg.kind == AGG_AVG) {
			add_int(out, t->is_signed, average, div);
			break;
		}
		str_addf(out, "{ .count = %" PRIu64 ", .average = ", v[0]);
		add_int(out, t->is_signed, average, div);
		str_add(out, ", .total = ");
		add_int(out, t->is_signed, v[1], 1);
		str_add(out, " }");
		break;
	case AGG_HIST:
	case AGG_LHIST:
		show_hist(t, v, div, out);
	}
}

static bool is_hist(const struct type *t)
{
	return t->kind == TYPE_AGG && t->agg.kind >= AGG_HIST;
}

static void print_entry(const struct entries *e, const struct entry *entry, int64_t div,
	FILE *out)
{
	const struct type *t = e->map->value;
	struct str line = {};

	str_addf(&line, "@%s", e->map->name);
	if (entry->text)
		str_add(&line, entry->text);
	else if (e->map->key)
		add_key(e->show, e->map->key, entry->key, &line);
	str_add(&line, is_hist(t) ? ":\n" : ": ");
	if (t->kind == TYPE_AGG)
		show_agg(t, entry->value, div, &line);
	else if (t->kind == TYPE_INT && div > 1)
		add_int(&line, t->is_signed, show_int(t, entry->value), div);
	else
		show_value(e->show, t, entry->value, &line);
	str_addc(&line, '\n');
	fwrite(line.data, 1, line.len, out);
	str_done(&line);
}

int map_print(const struct show *s, struct bpf_object *obj, const struct image_map *m,
	const struct map_print *how, FILE *out)
{
	struct entries e = {.map = m, .show = s, .unset = how->unset};
	size_t from = 0;
	int n;
	int r = read_all(obj, &e);

	if (!r) {
		merge_equal(&e);
		qsort_r(e.list, e.n, sizeof(*e.list), compare_entries, &e);
		if (how->top > 0 && (uint64_t)how->top < e.n)
			from = e.n - how->top;
		for (size_t i = from; i < e.n; i++)
			print_entry(&e, &e.list[i], how->div, out);
	}
	n = e.n;
	entries_done(&e);
	return r ? r : n;
}

/* ---- clear, zero -------------------------------------------------------- */

static int for_all_keys(struct bpf_object *obj, const struct image_map *m, bool remove)
{
	struct show nobody = {};
	struct entries e = {.map = m, .show = &nobody};
	_cleanup_(freep) uint8_t *zeros = NULL;
	int fd = map_fd(obj, m), r = read_all(obj, &e);

	zeros = calloc(libbpf_num_possible_cpus(), m->value_size);
	if (!zeros)
		r = -ENOMEM;
	if (zeros && !remove && !m->key) /* zero, but set */
		memset(zeros + m->value_size - 8, 1, 1);
	for (size_t i = 0; i < e.n && !r; i++) {
		if (remove && m->key)
			bpf_map_delete_elem(fd, e.list[i].key);
		else
			bpf_map_update_elem(fd, e.list[i].key, zeros, BPF_EXIST);
	}
	entries_done(&e);
	return r;
}

int map_clear(struct bpf_object *obj, const struct image_map *m)
{
	return for_all_keys(obj, m, true);
}

int map_zero(struct bpf_object *obj, const struct image_map *m)
{
	return for_all_keys(obj, m, false);
}
