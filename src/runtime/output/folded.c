// SPDX-License-Identifier: Apache-2.0
/* folded.c - -f folded: input for flame graph programs. Each entry of a map keyed by stacks is one
 * line, whatever the mode of the stacks:
 *
 *     first;outermost;...;innermost COUNT
 *
 * `first` is the rest of the key, as comm. The reader takes every line for a stack, so all else that
 * the script prints goes to stderr. */
#include "output.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "runtime/maps.h"
#include "runtime/show.h"
#include "text.h"

static bool is_stacks(const struct image_map *m)
{
	return type_has(m->key, TYPE_STACK) && (m->value->kind == TYPE_INT || m->value->kind == TYPE_AGG);
}

static bool is_signed(const struct type *t)
{
	return t->is_signed && !(t->kind == TYPE_AGG && (t->agg.kind == AGG_COUNT || t->agg.kind >= AGG_HIST));
}

/* The width of a stack in the graph: the sum of an average, the number of values of a histogram. */
static uint64_t weight_of(const struct type *t, const uint8_t *value)
{
	const uint64_t *v = (const uint64_t *)value;
	uint64_t sum = 0;

	if (t->kind == TYPE_INT)
		return (uint64_t)show_int(t, value);
	switch (t->agg.kind) {
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		return v[0];
	case AGG_AVG:
	case AGG_STATS:
		return v[1];
	case AGG_HIST:
	case AGG_LHIST:
	case AGG_TSERIES:
		break;
	}
	for (uint32_t i = 0; i < t->agg.buckets && t->agg.kind != AGG_TSERIES; i++)
		sum += v[i];
	return sum;
}

/* false: it is negative, which has no width. */
static bool add_line(struct out *o, const struct map_content *c, const struct map_entry *e)
{
	uint64_t weight = weight_of(c->map->value, e->value);
	struct str text = {};

	if (is_signed(c->map->value) && (int64_t)weight < 0)
		return false;
	show_folded_key(o->show, c->map->key, e, &text);
	if (!text.len)
		str_add(&text, "[no stack]");
	fprintf(o->file, "%s %" PRIu64 "\n", str_text(&text), weight / (uint64_t)(c->div > 1 ? c->div : 1));
	str_done(&text);
	return true;
}

static void print_map(struct out *o, const struct map_content *c)
{
	size_t negative = 0;

	if (!is_stacks(c->map)) {
		text_map(o->show, c, false, stderr);
		return;
	}
	for (size_t i = c->first; i < c->n; i++)
		negative += !add_line(o, c, &c->list[i]);
	if (negative)
		log_warn("@%s: %zu stack%s left out: a value below 0 has no width", c->map->name, negative,
			negative == 1 ? " is" : "s are");
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	fwrite(text, 1, size, stderr);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	text_value(o->show, t, data, stderr);
}

static void begin(struct out *o, const struct image *img)
{
	for (unsigned i = 0; i < img->nmaps; i++)
		if (is_stacks(&img->maps[i]))
			return;
	log_warn("-f folded writes maps keyed by stacks, as @[ustack] = count(): this script has none");
}

const struct output output_folded = {
	.name = "folded",
	.help = "input for flame graphs: one line for each stack of a map",
	.begin = begin,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = output_event_log,
};
