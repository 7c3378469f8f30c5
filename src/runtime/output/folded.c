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
#include "profile.h"
#include "runtime/maps.h"
#include "runtime/show.h"
#include "text.h"

/* false: it is negative, which has no width. */
static bool add_line(struct out *o, const struct map_content *c, const struct map_entry *e)
{
	struct str text = {};
	uint64_t weight;

	if (!profile_weight(c->map->value, e->value, &weight))
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

	if (!profile_is_map(c->map)) {
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
		if (profile_is_map(&img->maps[i]))
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
