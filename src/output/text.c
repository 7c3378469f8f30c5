// SPDX-License-Identifier: Apache-2.0
/* text.c - -f text: the same text as bpftrace's. A map's entry is "@name[key]: value", or
 * "outermost;...;innermost value" if its key is a stack of the mode folded. At a terminal there are also shares and
 * the hottest functions. */
#include "text.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "hottest.h"
#include "model/type.h"
#include "output.h"
#include "unit.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/show.h"

/* ---- values ------------------------------------------------------------- */

static void add_int(struct str *out, bool is_signed, uint64_t v, int64_t div)
{
	if (div > 1)
		v = is_signed ? (uint64_t)((int64_t)v / div) : v / (uint64_t)div;
	if (is_signed)
		str_add_int(out, (int64_t)v);
	else
		str_add_uint(out, v);
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
		break;
	case AGG_TSERIES: /* see add_value() */
		break;
	}
}

void text_number(const struct type *t, const uint8_t *value, int64_t div, struct str *out)
{
	if (t->kind == TYPE_AGG)
		show_agg(t, value, div, out);
	else
		add_int(out, t->is_signed, *(const uint64_t *)value, div);
}

static bool is_hist(const struct type *t)
{
	return t->kind == TYPE_AGG && t->agg.kind >= AGG_HIST;
}

static void add_value(const struct show *s, const struct map_content *c, const struct map_entry *e,
	struct str *out)
{
	const struct type *t = c->map->value;
	int64_t div = c->div;

	if (t->kind == TYPE_AGG && t->agg.kind == AGG_TSERIES)
		show_tseries(t, e->value, c->last, out);
	else if (t->kind == TYPE_AGG)
		show_agg(t, e->value, div, out);
	else if (t->kind == TYPE_INT && div > 1)
		add_int(out, t->is_signed, show_int(t, e->value), div);
	else
		show_value(s, t, e->value, out);
}

/* Appends "3.07 KB in 3, 1.02 KB each". */
static void add_stats(enum unit unit, const uint64_t *v, struct str *out)
{
	unit_add(unit, (double)(int64_t)v[1], out);
	str_addf(out, " in %" PRIu64, v[0]);
	if (v[0] > 1) {
		str_add(out, ", ");
		unit_add(unit, (double)(int64_t)v[1] / (double)v[0], out);
		str_add(out, " each");
	}
}

/* Appends a value for a person: a number with its unit, if the map's name ends with one. */
static void add_for_person(const struct show *s, const struct map_content *c, const struct map_entry *e,
	struct str *out)
{
	const struct type *t = c->map->value;
	bool stats = t->kind == TYPE_AGG && t->agg.kind == AGG_STATS && unit_of(c->map->name) != UNIT_NONE;
	bool sums = t->kind == TYPE_AGG && t->agg.kind <= AGG_MAX && t->agg.kind != AGG_COUNT;
	enum unit unit = sums || t->kind == TYPE_INT ? unit_of(c->map->name) : UNIT_NONE;
	uint64_t v = unit == UNIT_NONE ? 0 : t->kind == TYPE_INT ? (uint64_t)show_int(t, e->value) :
		*(const uint64_t *)e->value;

	if (stats && c->div <= 1)
		add_stats(unit_of(c->map->name), (const uint64_t *)e->value, out);
	else if (unit == UNIT_NONE || c->div > 1)
		add_value(s, c, e, out);
	else
		unit_add(unit, t->is_signed ? (double)(int64_t)v : (double)v, out);
}

/* ---- keys --------------------------------------------------------------- */

static void add_stack(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	struct frame_list l;

	frames_of_entry(s, t, e, at, &l);
	show_frames(s, t, &l, out);
	frames_done(&l);
}

/* at: offset of the part in the key. */
static void add_part(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	if (t->kind == TYPE_STACK) {
		add_stack(s, t, e, at, out);
	} else if (t->kind == TYPE_TUPLE) {
		show_tuple_begin(t, out);
		for (unsigned i = 0; i < t->tuple.n; i++) {
			show_tuple_member(t, i, out);
			add_part(s, t->tuple.members[i], e, at + t->tuple.offsets[i], out);
		}
		show_tuple_end(t, out);
	} else {
		frames_add_other(s, t, e, at, out);
	}
}

void text_key_part(const struct str *part, bool skips_empty, bool *any, struct str *out)
{
	if (skips_empty && !strcmp(str_text(part), "\n")) /* the text of a stack without frames */
		return;
	str_add(out, *any ? ", " : "");
	str_addn(out, str_text(part), part->len);
	*any = true;
}

static void add_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out)
{
	bool several = t->kind == TYPE_TUPLE && !t->tuple.names, any = false;

	str_addc(out, '[');
	if (!several)
		add_part(s, t, e, 0, out);
	for (unsigned i = 0; several && i < t->tuple.n; i++) {
		const struct type *member = t->tuple.members[i];
		struct str part = {};

		add_part(s, member, e, t->tuple.offsets[i], &part);
		text_key_part(&part, s->skips_empty && member->kind == TYPE_STACK, &any, out);
		str_done(&part);
	}
	str_addc(out, ']');
}

/* ---- folded ------------------------------------------------------------- */

static bool is_number(const struct type *t)
{
	return t->kind == TYPE_INT ||
		(t->kind == TYPE_AGG && t->agg.kind <= AGG_AVG);
}

/* Returns whether the mode of a stack in its key makes each entry one line. */
static bool is_folded(const struct image_map *m)
{
	const struct type *t = m->key;

	if (!t || !is_number(m->value))
		return false;
	if (t->kind != TYPE_TUPLE)
		return t->kind == TYPE_STACK && t->stack.mode == STACK_FOLDED;
	for (unsigned i = 0; i < t->tuple.n; i++)
		if (t->tuple.members[i]->kind == TYPE_STACK &&
			t->tuple.members[i]->stack.mode == STACK_FOLDED)
			return true;
	return false;
}

/* ---- entries ------------------------------------------------------------ */

/* Prints an entry with its "\n". share: percent of the total; it is not shown if it is negative. */
static void add_entry(const struct show *s, const struct map_content *c, const struct map_entry *e,
	double share, struct str *out)
{
	const struct image_map *m = c->map;

	if (is_folded(m)) {
		show_folded_key(s, m->key, e, out);
		str_add(out, out->len ? " " : "[no stack] ");
	} else {
		str_addc(out, '@');
		str_add(out, m->name);
		if (m->key)
			add_key(s, m->key, e, out);
		str_add(out, is_hist(m->value) ? ":\n" : ": ");
	}
	if (share >= 0)
		add_for_person(s, c, e, out);
	else
		add_value(s, c, e, out);
	if (share >= 0)
		str_addf(out, "  %.1f %%", share);
	str_addc(out, '\n');
}

/* ---- shares, for a person ----------------------------------------------- */

bool text_has_shares(const struct type *t)
{
	return t->kind == TYPE_AGG && t->agg.kind != AGG_MIN && t->agg.kind != AGG_MAX && t->agg.kind < AGG_HIST;
}

/* Returns the entry's value, or the sum of an average. */
static double part_of(const struct map_content *c, size_t i)
{
	const struct type *t = c->map->value;
	bool is_sum = t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS;
	uint64_t v = ((const uint64_t *)c->list[i].value)[is_sum];

	return t->is_signed && t->agg.kind != AGG_COUNT ? (double)(int64_t)v : (double)v;
}

/* Returns the total for the shares, or 0 if the values are not parts of a whole, or there are no stacks. */
static double total_of(const struct map_content *c)
{
	const struct type *t = c->map->value;
	double sum = 0;

	if (!type_has(c->map->key, TYPE_STACK) || !text_has_shares(t))
		return 0;
	for (size_t i = 0; i < c->n; i++)
		sum += part_of(c, i);
	return sum > 0 ? sum : 0;
}

static double share_of(const struct map_content *c, size_t i, double total)
{
	return 100 * part_of(c, i) / total;
}

void text_total(const char *name, double total, size_t n, size_t first, double left_out, FILE *out)
{
	struct str text = {};

	unit_add(unit_of(name), total, &text);
	fprintf(out, "\n@%s: %s in %zu stack%s", name, str_text(&text), n, n == 1 ? "" : "s");
	str_done(&text);
	if (first)
		fprintf(out, "; the %zu smallest (%.1f %%) are not shown", first, left_out);
	fputc('\n', out);
}

static void print_total(const struct map_content *c, double total, FILE *out)
{
	double left_out = 0;

	for (size_t i = 0; i < c->first; i++)
		left_out += share_of(c, i, total);
	text_total(c->map->name, total / (c->div > 1 ? c->div : 1), c->n, c->first, left_out, out);
}

static void print_hottest(const struct show *s, const struct map_content *c, double total, FILE *out)
{
	struct hottest *h = hottest_new();

	for (size_t i = 0; i < c->n; i++) {
		struct frame_list l;

		frames_of_key(s, c->map, &c->list[i], &l);
		hottest_add(h, &l, share_of(c, i, total));
		frames_done(&l);
	}
	hottest_print(h, TEXT_HOTTEST, out);
	hottest_free(h);
}

/* ---- numbers, for a person ----------------------------------------------- */

enum { TABLE_WIDTH = 76 };

/* Returns whether the map is printed as a line for each key, with a number at its end. */
static bool is_table(const struct image_map *m)
{
	return m->key && is_number(m->value) && !type_has(m->key, TYPE_STACK);
}

/* Counts columns of UTF-8 text: each character takes one. */
static size_t columns_of(const struct str *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += (text->data[i] & 0xc0) != 0x80;
	return n;
}

/* Aligns the numbers, except after keys that are much longer than the others. */
static void print_table(const struct show *s, const struct map_content *c, FILE *out)
{
	size_t widest = 0;

	for (int prints = 0; prints < 2; prints++)
		for (size_t i = c->first; i < c->n; i++) {
			struct str key = {}, value = {};
			size_t used, pad;

			str_addf(&key, "@%s", c->map->name);
			add_key(s, c->map->key, &c->list[i], &key);
			add_for_person(s, c, &c->list[i], &value);
			used = columns_of(&key) + columns_of(&value);
			pad = used < widest ? widest - used : 0;
			if (!prints)
				widest = used > widest && used <= TABLE_WIDTH ? used : widest;
			else
				fprintf(out, "%s: %*s%s\n", str_text(&key), (int)pad, "", str_text(&value));
			str_done(&key);
			str_done(&value);
		}
}

/* ---- the row ------------------------------------------------------------ */

void text_map(const struct show *s, const struct map_content *c, bool shares, FILE *out)
{
	double total = shares && !is_folded(c->map) ? total_of(c) : 0;
	struct str text = {};

	if (shares && is_table(c->map)) {
		print_table(s, c, out);
		return;
	}
	for (size_t i = c->first; i < c->n; i++) {
		map_expect(s, c, i + MAP_AHEAD);
		str_clear(&text);
		add_entry(s, c, &c->list[i], total ? share_of(c, i, total) : -1, &text);
		fwrite(text.data, 1, text.len, out);
	}
	str_done(&text);
	if (!total)
		return;
	print_total(c, total, out);
	if (c->n > TEXT_FEW_STACKS)
		print_hottest(s, c, total, out);
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	fwrite(text, 1, size, o->file);
}

void text_value(const struct show *s, const struct type *t, const uint8_t *data, FILE *out)
{
	struct str text = {};

	show_value(s, t, data, &text);
	str_addc(&text, '\n');
	fwrite(text.data, 1, text.len, out);
	str_done(&text);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	text_value(o->show, t, data, o->file);
}

static void print_map(struct out *o, const struct map_content *c)
{
	text_map(o->show, c, o->terminal, o->file);
}

/* A reader of a flame graph's input reads all entries. */
static bool only_folded(const struct image_map *const *maps, size_t n)
{
	bool all = n;

	for (size_t i = 0; i < n; i++)
		all &= is_folded(maps[i]);
	return all;
}

static void print_end(struct out *o, const struct image_map *const *maps, size_t n)
{
	if (!only_folded(maps, n))
		fputs("\n\n", o->file);
}

const struct output output_text = {
	.name = "text",
	.help = "the text that bpftrace prints",
	.content = OUTPUT_TEXT,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = output_event_log,
	.end = print_end,
	.render = text_recorded,
};
