// SPDX-License-Identifier: Apache-2.0
/* json.c - -f json: a line for each thing that is printed, an object of its own:
 *
 *     {"type": "map", "data": {"@name": {"key": value}}}
 *
 * type and data are what bpftrace writes. It makes a key's text of all of its parts, and a stack's text
 * of its frames. So where a key has parts, or a stack is printed, a member that bpftrace has not
 * says the same without loss:
 *
 *     "entries": [{"key": [1, {"frames": [..]}], "value": 3}]    of a map that has keys
 *     "value": {"frames": [..], "end": ".."}                     of what has none
 *
 * A frame has the members that are known of it: kind, function, file, line, column, module, offset,
 * inlined. */
#include "output.h"

#include <inttypes.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "json_value.h"
#include "model/image.h"
#include "model/type.h"
#include "runtime/maps.h"

static void add_text(struct str *out, const char *text)
{
	str_add_json(out, text, strlen(text));
}

static void begin_line(struct str *line, const char *type)
{
	str_add(line, "{\"type\": ");
	add_text(line, type);
}

/* Takes the line. */
static void end_line(struct out *o, struct str *line)
{
	str_add(line, "}\n");
	fwrite(line->data, 1, line->len, o->file);
	str_done(line);
}

/* ---- text, values ------------------------------------------------------- */

/* bpftrace's name for what a kind of record prints. */
static const char *type_of_text(const char *kind)
{
	return strcmp(kind, "system") ? kind : "syscall";
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	struct str line = {};

	if (!strcmp(kind, "join") && size && text[size - 1] == '\n')
		size--;
	begin_line(&line, type_of_text(kind));
	str_add(&line, ", \"data\": ");
	str_add_json(&line, text, size);
	end_line(o, &line);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	struct json_values w = {.show = o->show};
	struct str line = {};

	begin_line(&line, "value");
	str_add(&line, ", \"data\": ");
	json_value(&w, t, data, &line);
	if (type_has(t, TYPE_STACK)) {
		w.frames = true;
		str_add(&line, ", \"value\": ");
		json_value(&w, t, data, &line);
	}
	end_line(o, &line);
}

/* ---- maps --------------------------------------------------------------- */

static const char *type_of_map(const struct type *value)
{
	if (value->kind != TYPE_AGG)
		return "map";
	switch (value->agg.kind) {
	case AGG_HIST:
	case AGG_LHIST:
		return "hist";
	case AGG_AVG:
	case AGG_STATS:
		return "stats";
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		break;
	}
	return "map";
}

/* {"key": value, ..}; without keys the value alone. */
static void add_content(const struct out *o, const struct map_content *c, struct str *line)
{
	const struct image_map *m = c->map;

	str_add(line, m->key ? "{" : "");
	for (size_t i = c->first; i < c->n; i++) {
		struct json_values w = {.show = o->show, .entry = &c->list[i], .map = m, .div = c->div};

		str_add(line, i > c->first ? ", " : "");
		if (m->key) {
			json_key(&w, m->key, c->list[i].key, line);
			str_add(line, ": ");
		}
		json_value(&w, m->value, c->list[i].value, line);
	}
	str_add(line, m->key ? "}" : "");
}

static bool has_parts(const struct type *key)
{
	return key->kind == TYPE_TUPLE || key->kind == TYPE_ARRAY || key->kind == TYPE_STRUCT ||
		key->kind == TYPE_BUFFER;
}

static void add_entries(const struct out *o, const struct map_content *c, struct str *line)
{
	const struct image_map *m = c->map;

	str_add(line, m->key ? ", \"entries\": [" : ", \"value\": ");
	for (size_t i = c->first; i < c->n; i++) {
		struct json_values w = {
			.show = o->show, .entry = &c->list[i], .map = m, .div = c->div, .frames = true};

		str_add(line, i > c->first ? ", " : "");
		if (m->key) {
			str_add(line, "{\"key\": ");
			json_value(&w, m->key, c->list[i].key, line);
			str_add(line, ", \"value\": ");
		}
		json_value(&w, m->value, c->list[i].value, line);
		str_add(line, m->key ? "}" : "");
	}
	str_add(line, m->key ? "]" : "");
}

static void print_map(struct out *o, const struct map_content *c)
{
	const struct image_map *m = c->map;
	struct str line = {};

	if (c->first >= c->n)
		return;
	begin_line(&line, type_of_map(m->value));
	str_addf(&line, ", \"data\": {\"@%s\": ", m->name);
	add_content(o, c, &line);
	str_addc(&line, '}');
	if ((m->key && has_parts(m->key)) || type_has(m->key, TYPE_STACK) || type_has(m->value, TYPE_STACK))
		add_entries(o, c, &line);
	end_line(o, &line);
}

/* ---- events ------------------------------------------------------------- */

static void print_event(struct out *o, const struct output_event *e)
{
	struct str line = {};

	switch (e->kind) {
	case OUTPUT_ATTACHED:
		if (o->quiet)
			return;
		begin_line(&line, "attached_probes");
		str_addf(&line, ", \"count\": %" PRIu64 ", \"data\": {\"probes\": %" PRIu64 "}", e->n, e->n);
		break;
	case OUTPUT_LOST:
		begin_line(&line, "lost_events");
		str_addf(&line, ", \"count\": %" PRIu64 ", \"data\": {\"events\": %" PRIu64 "}", e->n, e->n);
		break;
	}
	end_line(o, &line);
}

const struct output output_json = {
	.name = "json",
	.help = "a JSON object a line, as bpftrace writes them; stacks as frames, too",
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = print_event,
};
