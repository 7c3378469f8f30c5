// SPDX-License-Identifier: Apache-2.0
/* maps.c - the script's maps: read, printed, cleared.
 *
 * A map is read whole, the values of all CPUs merged, then entries whose stacks are one
 * (frames.h), and sorted. */
#include "maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "bpf/lib/record.h"
#include "frames.h"
#include "output/hottest.h"
#include "model/type.h"
#include "show.h"
#include "unwinders/unwinders.h"

enum {
	HOTTEST = 10,   /* functions in a table */
	FEW_STACKS = 5, /* are looked at as they stand */
};

struct entries {
	struct map_entry *list;
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
	struct map_entry *to;

	if (!m->key && !e->unset && !scalar_is_set(m, value, ncpus))
		return;
	if (e->n == e->cap) {
		e->cap = e->cap ? e->cap * 2 : 64;
		e->list = reallocarray(e->list, e->cap, sizeof(*e->list));
		if (!e->list)
			abort();
	}
	to = &e->list[e->n++];
	to->alike = NULL;
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

static void entry_done(struct map_entry *entry)
{
	for (struct map_alike *a = entry->alike, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	free(entry->key);
	free(entry->value);
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
	const struct map_entry *a = pa, *b = pb;
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

/* ---- equal keys --------------------------------------------------------- */

/* By what are entries one; and where they stood. */
struct keyed {
	struct frames_key by;
	size_t at;
};

static void key_of(const struct show *s, const struct type *t, const uint8_t *data,
	struct frames_key *k)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			key_of(s, t->tuple.members[i], data + t->tuple.offsets[i], k);
	else if (t->kind == TYPE_STACK)
		frames_key_stack(s, t, show_int(t, data), k);
	else
		frames_key_add(k, data, t->size);
}

static int compare_keyed(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	if (a->by.a != b->by.a)
		return a->by.a < b->by.a ? -1 : 1;
	if (a->by.b != b->by.b)
		return a->by.b < b->by.b ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void join_key(const struct image_map *m, struct map_entry *to, const struct map_entry *from)
{
	struct map_alike *a;

	if (!memcmp(to->key, from->key, m->key_size))
		return;
	a = malloc(sizeof(*a) + m->key_size);
	if (!a)
		abort();
	memcpy(a->key, from->key, m->key_size);
	a->next = to->alike;
	to->alike = a;
}

/* Of plain values, whose sum may mean nothing, only the same stack's are one: two ids, one of
 * which userspace gave when it finished the walk. */
static void find_keys(const struct entries *e, struct keyed *keyed)
{
	bool is_agg = e->map->value->kind == TYPE_AGG;

	for (size_t i = 0; i < e->n; i++) {
		keyed[i] = (struct keyed){ .at = i };
		if (is_agg)
			key_of(e->show, e->map->key, e->list[i].key, &keyed[i].by);
		else
			frames_key_add(&keyed[i].by, e->list[i].key, e->map->key_size);
	}
}

static void merge_equal(struct entries *e)
{
	_cleanup_(freep) struct keyed *keyed = NULL;
	struct map_entry *merged;
	size_t n = 0;

	if (!e->n || !type_has(e->map->key, TYPE_STACK))
		return;
	keyed = calloc(e->n, sizeof(*keyed));
	merged = calloc(e->n, sizeof(*merged));
	if (!keyed || !merged)
		abort();
	find_keys(e, keyed);
	qsort(keyed, e->n, sizeof(*keyed), compare_keyed);
	for (size_t i = 0; i < e->n; i++) {
		struct map_entry *from = &e->list[keyed[i].at];

		if (!i || memcmp(&keyed[i].by, &keyed[i - 1].by, sizeof(keyed[i].by))) {
			merged[n++] = *from;
			continue;
		}
		merge(e->map->value, merged[n - 1].value, from->value);
		join_key(e->map, &merged[n - 1], from);
		entry_done(from);
	}
	free(e->list);
	e->list = merged;
	e->n = n;
}

/* ---- printing ----------------------------------------------------------- */

/* What shares are of; 0: the values are no parts of a whole, or there are no stacks. */
static double total_of(const struct entries *e)
{
	const struct type *t = e->map->value;
	double sum = 0;

	if (!type_has(e->map->key, TYPE_STACK) || t->kind != TYPE_AGG || t->agg.kind > AGG_SUM)
		return 0;
	for (size_t i = 0; i < e->n; i++) {
		uint64_t v = *(const uint64_t *)e->list[i].value;

		sum += t->is_signed ? (double)(int64_t)v : (double)v;
	}
	return sum > 0 ? sum : 0;
}

static double share_of(const struct entries *e, size_t i, double total)
{
	uint64_t v = *(const uint64_t *)e->list[i].value;

	return 100 * (e->map->value->is_signed ? (double)(int64_t)v : (double)v) / total;
}

/* from: so many were left out. */
static void print_total(const struct entries *e, size_t from, double total, int64_t div, FILE *out)
{
	double left_out = 0;

	for (size_t i = 0; i < from; i++)
		left_out += share_of(e, i, total);
	fprintf(out, "\n@%s: %.0f in %zu stack%s", e->map->name, total / (div > 1 ? div : 1), e->n,
		e->n == 1 ? "" : "s");
	if (from)
		fprintf(out, "; the %zu smallest (%.1f %%) are not shown", from, left_out);
	fputc('\n', out);
}

static void print_hottest(const struct entries *e, double total, FILE *out)
{
	struct hottest *h = hottest_new();

	for (size_t i = 0; i < e->n; i++) {
		struct frame_list l;

		show_entry_frames(e->show, e->map, &e->list[i], &l);
		hottest_add(h, &l, share_of(e, i, total));
		frames_done(&l);
	}
	hottest_print(h, HOTTEST, out);
	hottest_free(h);
}

static void print_all(const struct entries *e, const struct map_print *how, FILE *out)
{
	size_t from = how->top > 0 && (uint64_t)how->top < e->n ? e->n - how->top : 0;
	double total = how->shares && !map_is_folded(e->map) ? total_of(e) : 0;

	for (size_t i = from; i < e->n; i++) {
		struct str text = {};

		show_entry(e->show, e->map, &e->list[i], how, total ? share_of(e, i, total) : -1, &text);
		fwrite(text.data, 1, text.len, out);
		str_done(&text);
	}
	if (!total)
		return;
	print_total(e, from, total, how->div, out);
	if (e->n > FEW_STACKS)
		print_hottest(e, total, out);
}

int map_print(const struct show *s, struct bpf_object *obj, const struct image_map *m,
	const struct map_print *how, FILE *out)
{
	struct entries e = {.map = m, .show = s, .unset = how->unset};
	int r = read_all(obj, &e), n;

	if (!r) {
		merge_equal(&e);
		qsort_r(e.list, e.n, sizeof(*e.list), compare_entries, &e);
		print_all(&e, how, out);
	}
	n = e.n;
	entries_done(&e);
	return r ? r : n;
}

/* ---- stacks ------------------------------------------------------------- */

static void each_stack(const struct type *t, const uint8_t *data, void (*f)(void *arg, uint64_t id),
	void *arg)
{
	if (t->kind == TYPE_STACK)
		f(arg, show_int(t, data));
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		each_stack(t->tuple.members[i], data + t->tuple.offsets[i], f, arg);
}

void map_each_stack(struct bpf_object *obj, const struct image_map *m,
	void (*f)(void *arg, uint64_t id), void *arg)
{
	bool keys = type_has(m->key, TYPE_STACK), values = type_has(m->value, TYPE_STACK);
	_cleanup_(freep) uint8_t *value = malloc(m->value_size), *key = malloc(m->key_size);
	void *last = NULL;
	int fd = map_fd(obj, m);

	if (!value || !key || (!keys && !values))
		return;
	while (!bpf_map_get_next_key(fd, last, key)) {
		if (keys)
			each_stack(m->key, key, f, arg);
		if (values && !bpf_map_lookup_elem(fd, key, value))
			each_stack(m->value, value, f, arg);
		last = key;
	}
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
