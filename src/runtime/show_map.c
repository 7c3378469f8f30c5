// SPDX-License-Identifier: Apache-2.0
/* show_map.c - an entry of a map as text: "@name[key]: value" as bpftrace prints it, or, of
 * folded stacks, "outermost;...;innermost value", which is a flame graph's input. */
#include <inttypes.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/lib/record.h"
#include "frames.h"
#include "maps.h"
#include "model/type.h"
#include "show.h"

/* ---- values ------------------------------------------------------------- */

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

static void add_value(const struct show *s, const struct type *t, const struct map_entry *e,
	int64_t div, struct str *out)
{
	if (t->kind == TYPE_AGG)
		show_agg(t, e->value, div, out);
	else if (t->kind == TYPE_INT && div > 1)
		add_int(out, t->is_signed, show_int(t, e->value), div);
	else
		show_value(s, t, e->value, out);
}

/* ---- keys --------------------------------------------------------------- */

/* The stacks at that offset of all keys that are one, as one. */
static void get_frames(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *ret)
{
	struct frame_list other;

	frames_get(s, t, show_int(t, e->key + at), ret);
	for (const struct map_alike *a = e->alike; a; a = a->next) {
		frames_get(s, t, show_int(t, a->key + at), &other);
		frames_widen(ret, &other);
		frames_done(&other);
	}
}

static void add_stack(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	struct frame_list l;

	get_frames(s, t, e, at, &l);
	show_frames(s, t, &l, out);
	frames_done(&l);
}

/* at: where the part is in the key. */
static void add_part(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	if (t->kind == TYPE_STACK) {
		add_stack(s, t, e, at, out);
	} else if (t->kind == TYPE_TUPLE) {
		str_addc(out, '(');
		for (unsigned i = 0; i < t->tuple.n; i++) {
			str_add(out, i ? ", " : "");
			add_part(s, t->tuple.members[i], e, at + t->tuple.offsets[i], out);
		}
		str_addc(out, ')');
	} else {
		show_value(s, t, e->key + at, out);
	}
}

static void add_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out)
{
	str_addc(out, '[');
	if (t->kind != TYPE_TUPLE)
		add_part(s, t, e, 0, out);
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++) {
		str_add(out, i ? ", " : "");
		add_part(s, t->tuple.members[i], e, t->tuple.offsets[i], out);
	}
	str_addc(out, ']');
}

enum key_part { PART_OTHER, PART_USER, PART_KERNEL };

static enum key_part part_of(const struct type *t)
{
	if (t->kind != TYPE_STACK)
		return PART_OTHER;
	return t->stack.lang == FRAME_LANG_KERNEL ? PART_KERNEL : PART_USER;
}

/* ---- folded ------------------------------------------------------------- */

static void add_folded(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	struct str text = {};

	add_part(s, t, e, at, &text);
	for (size_t i = 0; i < text.len && t->kind != TYPE_STACK; i++)
		if (text.data[i] == ';')
			text.data[i] = ':';
	if (text.len)
		str_addf(out, "%s%s", out->len ? ";" : "", text.data);
	str_done(&text);
}

/* What else is in the key is the outermost frame; the kernel's stack is entered from the
 * user's, whatever stands first in the key. */
static void add_folded_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out)
{
	static const enum key_part order[] = { PART_OTHER, PART_USER, PART_KERNEL };

	if (t->kind != TYPE_TUPLE) {
		add_folded(s, t, e, 0, out);
		return;
	}
	for (size_t k = 0; k < ARRAY_SIZE(order); k++)
		for (unsigned i = 0; i < t->tuple.n; i++)
			if (part_of(t->tuple.members[i]) == order[k])
				add_folded(s, t->tuple.members[i], e, t->tuple.offsets[i], out);
}

static bool is_number(const struct type *t)
{
	return t->kind == TYPE_INT ||
		(t->kind == TYPE_AGG && t->agg.kind <= AGG_AVG);
}

bool map_is_folded(const struct image_map *m)
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

/* ---- frames ------------------------------------------------------------- */

static void append_frames(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *l)
{
	struct frame_list more;

	frames_get(s, t, show_int(t, e->key + at), &more);
	for (size_t i = 0; i < more.len; i++)
		vec_push(l, more.data[i]);
	frames_done(&more);
}

static void append_part(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, enum key_part part, struct frame_list *l)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			append_part(s, t->tuple.members[i], e, at + t->tuple.offsets[i], part, l);
	else if (part_of(t) == part)
		append_frames(s, t, e, at, l);
}

void show_entry_frames(const struct show *s, const struct image_map *m, const struct map_entry *e,
	struct frame_list *ret)
{
	*ret = (struct frame_list){};
	append_part(s, m->key, e, 0, PART_KERNEL, ret);
	append_part(s, m->key, e, 0, PART_USER, ret);
}

/* ---- entries ------------------------------------------------------------ */

void show_entry(const struct show *s, const struct image_map *m, const struct map_entry *e,
	const struct map_print *how, double share, struct str *out)
{
	if (map_is_folded(m)) {
		add_folded_key(s, m->key, e, out);
		str_add(out, out->len ? " " : "[no stack] ");
	} else {
		str_addf(out, "@%s", m->name);
		if (m->key)
			add_key(s, m->key, e, out);
		str_add(out, is_hist(m->value) ? ":\n" : ": ");
	}
	add_value(s, m->value, e, how->div, out);
	if (share >= 0)
		str_addf(out, "  %.1f %%", share);
	str_addc(out, '\n');
}
