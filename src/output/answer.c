// SPDX-License-Identifier: Apache-2.0
/* answer.c - see answer.h. The entries of one own function are added up, whatever libraries it calls; the line has the
 * stack of the largest of them. */
#include "answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "output/shorten.h"
#include "output/text.h"
#include "output/unit.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/own.h"
#include "values/show.h"

#define LEAST 0.1 /* part of the whole; a smaller one answers nothing */

enum {
	CALLERS = 2, /* own callers that are printed */
	LONG = 60,   /* bytes from which a name of C++ is shortened */
};

struct sum {
	struct frames_key key;
	double value, most;
	uint64_t count; /* of stats() */
	size_t entry; /* with the largest value */
};

static double value_of(const struct map_content *c, size_t i)
{
	const struct type *t = c->map->value;
	bool is_sum = t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS;
	uint64_t v = ((const uint64_t *)c->list[i].value)[is_sum];

	return t->is_signed && t->agg.kind != AGG_COUNT ? (double)(int64_t)v : (double)v;
}

static uint64_t count_of(const struct map_content *c, size_t i)
{
	return c->map->value->agg.kind == AGG_STATS ? ((const uint64_t *)c->list[i].value)[0] : 0;
}

static void add(struct sum *sums, size_t *n, const struct map_content *c, const struct shown_frame *f, size_t entry)
{
	double value = value_of(c, entry);
	struct frames_key key = {};
	size_t i = 0;

	frames_key_function(&key, &f->name);
	while (i < *n && memcmp(&sums[i].key, &key, sizeof(key)) != 0)
		i++;
	if (i == *n)
		sums[(*n)++] = (struct sum){.key = key, .entry = entry, .most = value};
	sums[i].value += value;
	sums[i].count += count_of(c, entry);
	if (value > sums[i].most) {
		sums[i].most = value;
		sums[i].entry = entry;
	}
}

/* ---- the line ----------------------------------------------------------------- */

static void add_frame(const struct shown_frame *f, struct str *out)
{
	struct str name = {};

	show_function(f, &name);
	if (f->name.lang == FRAME_LANG_NATIVE && name.len >= LONG)
		shorten_name(str_text(&name), out);
	else
		str_addn(out, str_text(&name), name.len);
	str_done(&name);
	if (f->name.file && f->name.line && f->name.lang != FRAME_LANG_NATIVE)
		str_addf(out, ":%u", f->name.line);
}

/* Returns whether the entry's stack has the function, and its place from the innermost. */
static bool is_same(const struct shown_frame *a, const struct shown_frame *b)
{
	struct frames_key x = {}, y = {};

	frames_key_function(&x, &a->name);
	frames_key_function(&y, &b->name);
	return !memcmp(&x, &y, sizeof(x));
}

static bool has_name(const struct shown_frame *f)
{
	return f->name.lang != FRAME_LANG_KERNEL && (f->name.name || frames_jit_name(&f->name));
}

/* Appends the own function, after the innermost function that has a name, and its own callers. */
static void add_stack(const struct frame_list *l, struct str *out)
{
	const struct shown_frame *own = own_frame(l), *last = own;
	bool interpreted = own_is_interpreted(l);
	unsigned n = 0;
	size_t i = 0;

	while (i < l->len && !has_name(&l->data[i]))
		i++;
	if (&l->data[i] != own && i < l->len) {
		add_frame(&l->data[i], out);
		str_add(out, " <- ");
	}
	add_frame(own, out);
	for (const struct shown_frame *f = own + 1; f < l->data + l->len && n < CALLERS; f++) {
		if (!own_is_frame(f, interpreted) || is_same(f, last))
			continue;
		str_add(out, " <- ");
		add_frame(f, out);
		last = f;
		n++;
	}
}

/* Appends the other parts of the key, such as a lock's name; all but the first, which is the program's name. */
static void add_key(const struct show *s, const struct map_content *c, const struct map_entry *e, struct str *out)
{
	const struct type *t = c->map->key;

	for (unsigned i = 1; t->kind == TYPE_TUPLE && i < t->tuple.n; i++) {
		if (t->tuple.members[i]->kind == TYPE_STACK)
			continue;
		str_add(out, ", ");
		frames_add_other(s, t->tuple.members[i], e, t->tuple.offsets[i], out);
	}
}

static void print(const struct show *s, const struct map_content *c, const struct sum *most, double total, FILE *out)
{
	const struct map_entry *e = &c->list[most->entry];
	struct frame_list l;
	struct str line = {};

	frames_of_key(s, c->map, e, &l);
	str_addf(&line, "%.0f %% of @%s", 100 * most->value / total, c->map->name);
	if (unit_of(c->map->name) != UNIT_NONE) {
		str_add(&line, ", ");
		unit_add(unit_of(c->map->name), most->value, &line);
		if (most->count)
			str_addf(&line, " in %" PRIu64, most->count);
	}
	add_key(s, c, e, &line);
	str_add(&line, ": ");
	add_stack(&l, &line);
	fprintf(out, "%s\n", str_text(&line));
	str_done(&line);
	frames_done(&l);
}

void answer_print(const struct show *s, const struct map_content *c, FILE *out)
{
	struct sum *sums, *most;
	double total = 0;
	size_t n = 0;

	if (!c->n || !type_has(c->map->key, TYPE_STACK) || !text_has_shares(c->map->value))
		return;
	sums = calloc(c->n, sizeof(*sums));
	if (!sums)
		out_of_memory();
	for (size_t i = 0; i < c->n; i++) {
		struct frame_list l;

		frames_of_key(s, c->map, &c->list[i], &l);
		total += value_of(c, i);
		if (own_frame(&l) && own_is_frame(own_frame(&l), own_is_interpreted(&l)))
			add(sums, &n, c, own_frame(&l), i);
		frames_done(&l);
	}
	most = sums;
	for (size_t i = 1; i < n; i++)
		most = sums[i].value > most->value ? &sums[i] : most;
	if (n && most->value >= LEAST * total && total > 0)
		print(s, c, most, total, out);
	free(sums);
}
