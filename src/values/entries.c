// SPDX-License-Identifier: Apache-2.0
/* entries.c - the script's maps: read, cleared.
 *
 * A map is read completely: the values of all CPUs are merged, then entries with equal stacks
 * (frames.h), and then it is sorted. */
#include "entries.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/lib/record.h"
#include "frames.h"
#include "idle.h"
#include "model/type.h"
#include "order.h"
#include "show.h"
#include "startup.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

struct reading {
	struct map_content *content;
	const struct show *show;
	bool unset; /* also return a scalar that was never set */
};

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

/* Merges two values of one interval. */
static void merge_interval(const struct type *t, struct agg_tseries *to, const struct agg_tseries *from)
{
	bool less = t->is_signed ? (int64_t)from->value < (int64_t)to->value : from->value < to->value;

	switch ((enum agg_series)t->agg.series) {
	case SERIES_LAST:
		if (from->n > to->n)
			*to = *from;
		break;
	case SERIES_AVG:
	case SERIES_SUM:
		to->value += from->value;
		to->n += from->n;
		break;
	case SERIES_MAX:
		to->value = less ? to->value : from->value;
		break;
	case SERIES_MIN:
		to->value = less ? from->value : to->value;
		break;
	}
}

static void merge_tseries(const struct type *t, struct agg_tseries *to, const struct agg_tseries *from)
{
	for (uint32_t i = 0; i < t->agg.buckets; i++)
		if (from[i].interval > to[i].interval)
			to[i] = from[i];
		else if (from[i].interval && from[i].interval == to[i].interval)
			merge_interval(t, &to[i], &from[i]);
}

/* Adds one CPU's value, or that of an equal key. */
static void merge(const struct type *t, uint8_t *to, const uint8_t *from)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	if (t->kind != TYPE_AGG)
		memcpy(to, from, t->size);
	else if (t->agg.kind == AGG_TSERIES)
		merge_tseries(t, (struct agg_tseries *)to, (const struct agg_tseries *)from);
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
	} else if ((t->kind == TYPE_STACK || t->kind == TYPE_FRAME) && s->unwinders) {
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

static size_t in_words(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static struct map_entry *new_entry(struct map_content *c)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->list = reallocarray(c->list, c->cap, sizeof(*c->list));
		if (!c->list)
			out_of_memory();
		memory_use_huge_pages(c->list, c->cap * sizeof(*c->list));
	}
	c->list[c->n] = (struct map_entry){};
	return &c->list[c->n++];
}

static void add_entry(struct reading *e, const uint8_t *key, const uint8_t *value, int ncpus)
{
	struct map_content *c = e->content;
	const struct image_map *m = c->map;
	struct map_entry *to;

	if (!m->key && !e->unset && !scalar_is_set(m, value, ncpus))
		return;
	to = new_entry(c);
	to->key = arena_alloc(c->arena, in_words(m->key_size) + m->value_size);
	to->value = to->key + in_words(m->key_size);
	memcpy(to->key, key, m->key_size);
	if (m->key)
		real_ids(e->show, m->key, to->key);
	for (int i = 0; i < ncpus; i++)
		merge(m->value, to->value, value + (size_t)i * m->value_size);
}

/* Calls f for each element of a map. */
struct elements {
	int fd;
	const struct image_map *map;
	void (*f)(void *arg, const uint8_t *key, const uint8_t *value);
	void *arg;
};

enum { BATCH = 1 << 20 }; /* bytes of keys and values that one call of the kernel returns, or one element */

/* Reads many elements in each call. Linux does this for hash maps since 5.6, a bucket at a time: an element that is
 * removed meanwhile does not lead back to the start. Returns -ENOTSUP for another kind of map, without a call of f. */
static int each_by_batches(const struct elements *e, size_t value_size)
{
	size_t key_size = e->map->key_size, most = BATCH / (key_size + value_size);
	uint32_t room = most ? (uint32_t)most : 1, n;
	_cleanup_(freep) uint8_t *keys = NULL, *values = NULL;
	uint32_t at = 0, next = 0; /* buckets */
	void *from = NULL;
	int r;

	for (;;) {
		keys = keys ? keys : malloc(room * key_size);
		values = values ? values : malloc(room * value_size);
		if (!keys || !values)
			return -ENOMEM;
		n = room;
		r = bpf_map_lookup_batch(e->fd, from, &next, keys, values, &n, NULL);
		if (r == -ENOSPC) { /* a bucket has more elements */
			free(keys);
			free(values);
			keys = values = NULL;
			room *= 2;
			continue;
		}
		if (r && r != -ENOENT)
			return from ? r : -ENOTSUP;
		for (uint32_t i = 0; i < n; i++)
			e->f(e->arg, keys + i * key_size, values + i * value_size);
		if (r)
			return 0;
		at = next;
		from = &at;
	}
}

static int each_by_keys(const struct elements *e, size_t value_size)
{
	_cleanup_(freep) uint8_t *value = malloc(value_size), *key = malloc(e->map->key_size);
	void *last = NULL;

	if (!value || !key)
		return -ENOMEM;
	while (!bpf_map_get_next_key(e->fd, last, key)) {
		if (!bpf_map_lookup_elem(e->fd, key, value))
			e->f(e->arg, key, value);
		last = key;
	}
	return 0;
}

static int each_element(const struct elements *e)
{
	size_t size = in_words(e->map->value_size) * (e->map->per_cpu ? (size_t)libbpf_num_possible_cpus() : 1);
	int r = e->map->key ? each_by_batches(e, size) : -ENOTSUP;

	return r == -ENOTSUP ? each_by_keys(e, size) : r;
}

static void add_element(void *arg, const uint8_t *key, const uint8_t *value)
{
	struct reading *e = arg;

	add_entry(e, key, value, e->content->map->per_cpu ? libbpf_num_possible_cpus() : 1);
}

static int read_all(int fd, struct reading *e)
{
	return each_element(&(struct elements){fd, e->content->map, add_element, e});
}

/* ---- equal keys --------------------------------------------------------- */

/* Next to a stack, an address counts as its name: a lock has several words on which threads sleep. Addresses
 * without a name are equal: Python makes a lock for each wait for a condition. */
static void add_usym(const struct show *s, const uint8_t *data, struct frames_key *k)
{
	struct str name = {};

	show_usym(s, data, &name);
	frames_key_add(k, str_text(&name), s->exact || strncmp(str_text(&name), "0x", 2) ? name.len : 2);
	str_done(&name);
}

static void add_frame(const struct show *s, const struct type *t, const uint8_t *data, struct frames_key *k)
{
	struct str text = {};

	show_frame(s, t, show_int(t, data), &text);
	frames_key_add(k, str_text(&text), text.len);
	str_done(&text);
}

static void key_of(const struct show *s, const struct type *t, const uint8_t *data, struct frames_memo *memo,
	struct frames_key *k)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			key_of(s, t->tuple.members[i], data + t->tuple.offsets[i], memo, k);
	else if (t->kind == TYPE_STACK)
		frames_key_stack(s, t, show_int(t, data), memo, k);
	else if (t->kind == TYPE_FRAME)
		add_frame(s, t, data, k);
	else if (t->kind == TYPE_USYM)
		add_usym(s, data, k);
	else
		frames_key_add(k, data, t->size);
}

static void join_key(const struct map_content *c, struct map_entry *to, const struct map_entry *from)
{
	const struct image_map *m = c->map;
	struct map_alike *a;

	if (!memcmp(to->key, from->key, m->key_size))
		return;
	a = arena_alloc(c->arena, sizeof(*a) + m->key_size);
	memcpy(a->key, from->key, m->key_size);
	a->next = to->alike;
	to->alike = a;
}

static void expect_stacks(const struct show *s, const struct type *t, const uint8_t *key, bool near)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			expect_stacks(s, t->tuple.members[i], key + t->tuple.offsets[i], near);
	else if (t->kind == TYPE_STACK && s->unwinders)
		unwinders_expect_stack(s->unwinders, (uint64_t)show_int(t, key), near);
}

/* Each step needs the result of the one before, so they are done for different entries. */
void map_expect(const struct show *s, const struct map_content *c, size_t i)
{
	const struct type *key = c->map->key;
	size_t far = i - MAP_AHEAD / 4, near = i - MAP_AHEAD / 2;

	if (i < c->n)
		__builtin_prefetch(c->list[i].key);
	if (!key || !type_has(key, TYPE_STACK))
		return;
	if (far < c->n)
		expect_stacks(s, key, c->list[far].key, false);
	if (near < c->n)
		expect_stacks(s, key, c->list[near].key, true);
}

enum { MEMO_FROM = 64 }; /* fewer stacks share too few frames */

/* Values that are not aggregations are not added, so only keys with the same stack are merged. A stack can
 * have two ids if userspace finished the walk. */
static void find_keys(const struct show *s, const struct map_content *c, struct frames_key *by)
{
	bool is_agg = c->map->value->kind == TYPE_AGG;
	_cleanup_(freep) struct frames_memo *memo = is_agg && c->n > MEMO_FROM ? frames_memo_new() : NULL;

	for (size_t i = 0; i < c->n; i++) {
		map_expect(s, c, i + MAP_AHEAD);
		if (is_agg)
			key_of(s, c->map->key, c->list[i].key, memo, &by[i]);
		else
			frames_key_add(&by[i], c->list[i].key, c->map->key_size);
	}
}

/* The first entry of each key, by open addressing. */
struct firsts {
	size_t *slot, mask; /* an index into the list, plus 1; 0: free */
};

static void firsts_init(struct firsts *f, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	f->slot = calloc(size, sizeof(*f->slot));
	if (!f->slot)
		out_of_memory();
	memory_use_huge_pages(f->slot, size * sizeof(*f->slot));
	f->mask = size - 1;
}

static size_t *place_of(const struct firsts *f, const struct frames_key *key)
{
	return &f->slot[idmap_hash(key->a, key->b) & f->mask];
}

/* Returns the place of a key's first entry, or a free one. */
static size_t *first_of(const struct firsts *f, const struct frames_key *by, const struct frames_key *key)
{
	size_t *at = place_of(f, key);

	while (*at && memcmp(&by[*at - 1], key, sizeof(*key)))
		at = at == &f->slot[f->mask] ? f->slot : at + 1;
	return at;
}

/* Each entry is merged with the first one that has its key. The keys move with the entries. */
static void merge_equal(const struct show *s, struct map_content *c)
{
	_cleanup_(freep) struct frames_key *by = NULL;
	struct firsts firsts;
	size_t n = 0;

	if (!c->n || !type_has_ids(c->map->key))
		return;
	by = calloc(c->n, sizeof(*by));
	if (!by)
		out_of_memory();
	find_keys(s, c, by);
	firsts_init(&firsts, c->n);
	for (size_t i = 0; i < c->n; i++) {
		size_t *first = first_of(&firsts, by, &by[i]);

		if (i + MAP_AHEAD < c->n)
			__builtin_prefetch(place_of(&firsts, &by[i + MAP_AHEAD]));
		if (*first) {
			merge(c->map->value, c->list[*first - 1].value, c->list[i].value);
			join_key(c, &c->list[*first - 1], &c->list[i]);
			continue;
		}
		by[n] = by[i];
		c->list[n++] = c->list[i];
		*first = n;
	}
	free(firsts.slot);
	c->n = n;
}

/* ---- loops over frames --------------------------------------------------- */

/* Returns the frame of a loop in a key, and its place. NULL: there is none. A key has the frames of one stack. */
static const struct type *each_in(const struct type *t, size_t *ret_at)
{
	if (t->kind == TYPE_FRAME)
		return t->frame.index == FRAME_EACH ? t : NULL;
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++) {
		const struct type *found = each_in(t->tuple.members[i], ret_at);

		if (found) {
			*ret_at += t->tuple.offsets[i];
			return found;
		}
	}
	return NULL;
}

/* Replaces the ids of stacks by the addresses of the texts of their frames. */
static void put_texts(const struct show *s, const struct type *t, uint8_t *key, struct arena *a)
{
	if (t->kind == TYPE_FRAME && t->frame.index == FRAME_EACH) {
		struct str text = {};
		uint64_t at;

		show_frame(s, t, (uint64_t)show_int(t, key), &text);
		at = (uintptr_t)arena_strdup(a, str_text(&text));
		memcpy(key, &at, sizeof(at));
		str_done(&text);
	}
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		put_texts(s, t->tuple.members[i], key + t->tuple.offsets[i], a);
}

/* Each entry of a loop over frames becomes one for each frame of its stack. */
static void each_frame(const struct show *s, struct map_content *c)
{
	size_t at = 0, key_size = in_words(c->map->key_size), n = c->n;
	const struct type *each = c->map->key ? each_in(c->map->key, &at) : NULL;
	struct map_entry *list = c->list;
	struct show show = *s;

	if (!each || !n)
		return;
	c->list = NULL;
	c->n = c->cap = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned frames = show_frames_of(s, each, (uint64_t)show_int(each, list[i].key + at));

		for (show.each = 1; show.each <= frames; show.each++) {
			struct map_entry *to = new_entry(c);

			to->key = arena_alloc(c->arena, key_size + c->map->value_size);
			to->value = to->key + key_size;
			memcpy(to->key, list[i].key, key_size);
			memcpy(to->value, list[i].value, c->map->value_size);
			put_texts(&show, c->map->key, to->key, c->arena);
		}
	}
	free(list);
}

/* ---- idle waits --------------------------------------------------------- */

/* Returns the first user stack of a key, or NULL. */
static const uint8_t *user_stack(const struct type *t, const uint8_t *key)
{
	const uint8_t *at = NULL;

	if (t->kind == TYPE_STACK)
		return t->stack.lang == FRAME_LANG_KERNEL ? NULL : key;
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n && !at; i++)
		at = user_stack(t->tuple.members[i], key + t->tuple.offsets[i]);
	return at;
}

static bool is_idle(const struct show *s, const struct map_content *c, const struct map_entry *e)
{
	const uint8_t *stack = user_stack(c->map->key, e->key);
	uint64_t id = 0;

	if (stack)
		memcpy(&id, stack, sizeof(id));
	return id && ((s->skips_idle && idle_stack(s, id)) || (s->skips_startup && startup_stack(s, id)));
}

/* Moves the idle entries to the end of the list. */
static size_t split_idle(const struct show *s, struct map_content *c)
{
	struct map_entry *idle = calloc(c->n + 1, sizeof(*idle));
	size_t nidle = 0, n = 0;

	if (!idle)
		out_of_memory();
	for (size_t i = 0; i < c->n; i++)
		if (is_idle(s, c, &c->list[i]))
			idle[nidle++] = c->list[i];
		else
			c->list[n++] = c->list[i];
	memcpy(c->list + n, idle, nidle * sizeof(*idle));
	free(idle);
	return nidle;
}

/* If all waits are idle, they stay, because they are the answer. Stacks of the C library's own memory never stay. */
static void leave_out_idle(const struct show *s, struct map_content *c)
{
	if (!(s->skips_idle || s->skips_startup) || !c->n || !type_has(c->map->key, TYPE_STACK))
		return;
	c->nidle = split_idle(s, c);
	c->startup = s->skips_startup;
	c->all_idle = !c->startup && c->nidle == c->n;
	if (c->all_idle) {
		c->nidle = 0;
		return;
	}
	c->n -= c->nidle;
}

/* ---- a whole map -------------------------------------------------------- */

static uint64_t last_interval(const struct map_content *c)
{
	uint64_t last = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct agg_tseries *v = (const struct agg_tseries *)c->list[i].value;

		for (uint32_t k = 0; k < c->map->value->agg.buckets; k++)
			last = v[k].interval > last ? v[k].interval : last;
	}
	return last;
}

void type_each_stack(const struct type *t, const uint8_t *data, void (*f)(void *arg, uint64_t id),
	void *arg)
{
	if (t->kind == TYPE_STACK || t->kind == TYPE_FRAME)
		f(arg, show_int(t, data));
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		type_each_stack(t->tuple.members[i], data + t->tuple.offsets[i], f, arg);
}

struct ids {
	VEC(uint64_t) list;
};

static void add_id(void *arg, uint64_t id)
{
	struct ids *ids = arg;

	vec_push(&ids->list, id);
}

/* Names all of the map's frames at once. */
static void name_stacks(const struct show *s, const struct map_content *c)
{
	struct ids ids = {};

	if (!s->unwinders)
		return;
	for (size_t i = 0; i < c->n; i++) {
		map_expect(s, c, i + MAP_AHEAD);
		if (type_has_ids(c->map->key))
			type_each_stack(c->map->key, c->list[i].key, add_id, &ids);
		if (type_has_ids(c->map->value))
			type_each_stack(c->map->value, c->list[i].value, add_id, &ids);
	}
	unwinders_name_stacks(s->unwinders, ids.list.data, ids.list.len);
	vec_done(&ids.list);
}

int map_read(const struct show *s, int fd, const struct image_map *m,
	const struct map_wanted *wanted, struct map_content *ret)
{
	struct reading e = {.content = ret, .show = s, .unset = wanted->unset};
	int r;

	*ret = (struct map_content){.map = m, .div = wanted->div, .arena = arena_new()};
	r = read_all(fd, &e);
	if (r)
		return r;
	name_stacks(s, ret);
	each_frame(s, ret);
	merge_equal(s, ret);
	leave_out_idle(s, ret);
	entries_sort(ret);
	if (m->value->kind == TYPE_AGG && m->value->agg.kind == AGG_TSERIES)
		ret->last = last_interval(ret);
	if (wanted->top > 0 && (uint64_t)wanted->top < ret->n)
		ret->first = ret->n - (size_t)wanted->top;
	return 0;
}

void map_content_done(struct map_content *c)
{
	free(c->list);
	if (c->arena)
		arena_free(c->arena);
}

/* ---- stacks ------------------------------------------------------------- */

struct stacks_in {
	const struct image_map *map;
	void (*f)(void *arg, uint64_t id);
	void *arg;
};

static void stacks_of_element(void *arg, const uint8_t *key, const uint8_t *value)
{
	const struct stacks_in *s = arg;

	if (s->map->key)
		type_each_stack(s->map->key, key, s->f, s->arg);
	type_each_stack(s->map->value, value, s->f, s->arg);
}

void map_each_stack(int fd, const struct image_map *m,
	void (*f)(void *arg, uint64_t id), void *arg)
{
	struct stacks_in s = {m, f, arg};

	if (type_has_ids(m->key) || type_has_ids(m->value))
		each_element(&(struct elements){fd, m, stacks_of_element, &s});
}

/* ---- clear, zero -------------------------------------------------------- */

static int for_all_keys(int fd, const struct image_map *m, bool remove)
{
	struct show nobody = {};
	struct map_content c = {.map = m, .arena = arena_new()};
	struct reading e = {.content = &c, .show = &nobody};
	_cleanup_(freep) uint8_t *zeros = NULL;
	int r = read_all(fd, &e);

	zeros = calloc(libbpf_num_possible_cpus(), m->value_size);
	if (!zeros)
		r = -ENOMEM;
	if (zeros && !remove && !m->key) /* zero, but set */
		memset(zeros + m->value_size - 8, 1, 1);
	for (size_t i = 0; i < c.n && !r; i++) {
		if (remove && m->key)
			bpf_map_delete_elem(fd, c.list[i].key);
		else
			bpf_map_update_elem(fd, c.list[i].key, zeros, BPF_EXIST);
	}
	map_content_done(&c);
	return r;
}

int map_clear(int fd, const struct image_map *m)
{
	return for_all_keys(fd, m, true);
}

int map_zero(int fd, const struct image_map *m)
{
	return for_all_keys(fd, m, false);
}
