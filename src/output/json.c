// SPDX-License-Identifier: Apache-2.0
/* json.c - -f json: each line is an object for one print:
 *
 *     {"type": "map", "data": {"@name": {"key": value}}}
 *
 * type and data are bpftrace's. In bpftrace, a key's text is made of all its parts, and a stack's text of
 * its frames. So if a key has parts, or a stack is printed, a member that bpftrace does not have gives
 * the same data without loss:
 *
 *     "entries": [{"key": [1, {"frames": [..]}], "value": 3}]    for a map with keys
 *     "value": {"frames": [..], "end": ".."}                     for a map without keys
 *
 * A frame has the members that are known: kind, function, file, line, column, module, offset, inlined. */
#include "output.h"

#include <inttypes.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "json_value.h"
#include "model/image.h"
#include "model/type.h"
#include "values/entries.h"

enum { PART = 1 << 16 };

static void add_text(struct str *out, const char *text)
{
	str_add_json(out, text, strlen(text));
}

static void begin_line(struct str *line, const char *type)
{
	str_add(line, "{\"type\": ");
	add_text(line, type);
}

/* A map's line may have many megabytes, so it is written in parts. */
static void flush_line(struct out *o, struct str *line)
{
	if (line->len < PART)
		return;
	fwrite(line->data, 1, line->len, o->file);
	str_clear(line);
}

/* Writes the line and frees it. */
static void end_line(struct out *o, struct str *line)
{
	str_add(line, "}\n");
	fwrite(line->data, 1, line->len, o->file);
	str_done(line);
}

/* ---- text, values ------------------------------------------------------- */

/* Returns bpftrace's name for the print of a kind of record. */
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
	case AGG_TSERIES:
		return "tseries";
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

/* Appends {"key": value, ..}, or only the value if the map has no keys. */
static void add_content(struct out *o, const struct map_content *c, struct str *line)
{
	const struct image_map *m = c->map;

	str_add(line, m->key ? "{" : "");
	for (size_t i = c->first; i < c->n; i++) {
		struct json_values w = {.show = o->show, .entry = &c->list[i], .map = m, .div = c->div,
			.last = c->last};

		str_add(line, i > c->first ? ", " : "");
		if (m->key) {
			json_key(&w, m->key, c->list[i].key, line);
			str_add(line, ": ");
		}
		json_value(&w, m->value, c->list[i].value, line);
		flush_line(o, line);
	}
	str_add(line, m->key ? "}" : "");
}

static bool has_parts(const struct type *key)
{
	return key->kind == TYPE_TUPLE || key->kind == TYPE_ARRAY || key->kind == TYPE_STRUCT ||
		key->kind == TYPE_BUFFER;
}

static void add_entries(struct out *o, const struct map_content *c, struct str *line)
{
	const struct image_map *m = c->map;

	str_add(line, m->key ? ", \"entries\": [" : ", \"value\": ");
	for (size_t i = c->first; i < c->n; i++) {
		struct json_values w = {
			.show = o->show, .entry = &c->list[i], .map = m, .div = c->div, .last = c->last,
			.frames = true};

		str_add(line, i > c->first ? ", " : "");
		if (m->key) {
			str_add(line, "{\"key\": ");
			json_value(&w, m->key, c->list[i].key, line);
			str_add(line, ", \"value\": ");
		}
		json_value(&w, m->value, c->list[i].value, line);
		str_add(line, m->key ? "}" : "");
		flush_line(o, line);
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

static void add_lost(struct str *line, const struct output_event *e)
{
	begin_line(line, e->are_events ? "lost_events" : "lost");
	str_addf(line, ", \"count\": %" PRIu64 ", \"data\": {\"%s\": %" PRIu64 "}, \"msg\": ", e->n,
		e->are_events ? "events" : "losses", e->n);
	add_text(line, e->what);
	str_add(line, e->nlosses ? ", \"probes\": [" : "");
	for (size_t i = 0; i < e->nlosses; i++) {
		str_add(line, i ? ", {\"probe\": " : "{\"probe\": ");
		add_text(line, e->losses[i].probe);
		if (e->losses[i].cpu != OUTPUT_ANY_CPU)
			str_addf(line, ", \"cpu\": %u", e->losses[i].cpu);
		str_addf(line, ", \"events\": %" PRIu64 "}", e->losses[i].n);
	}
	str_add(line, e->nlosses ? "]" : "");
}

/* Appends the place after the text of a message or problem. */
static void add_place(struct str *line, const char *filename, unsigned lineno, unsigned col)
{
	str_add(line, ", \"filename\": ");
	add_text(line, filename);
	str_addf(line, ", \"line\": %u, \"col\": %u", lineno, col);
}

static void add_message(struct str *line, const struct output_message *m)
{
	begin_line(line, m->is_error ? "errorf" : "warnf");
	str_add(line, ", \"msg\": ");
	add_text(line, m->text);
	add_place(line, m->filename, m->line, m->col);
}

/* bpftrace's texts, because programs may look for them. */
static void add_problem(struct str *line, const struct output_problem *p)
{
	static const char *const texts[] = {
		[PROBLEM_READ] = "\"Bad address\", \"helper\": \"probe_read\", \"retcode\": -14",
		[PROBLEM_DIVISION] = "\"Divide or modulo by 0 detected. This can lead to unexpected results. "
			"1 is being used as the result.\"",
		[PROBLEM_INDEX] = "\"Array access out of bounds. This can lead to unexpected results.\"",
		[PROBLEM_FULL] = "\"Argument list too long\", \"helper\": \"map_update_elem\", \"retcode\": -7",
		[PROBLEM_UPDATE] = "\"The kernel refused the update of a map: it was busy, or no memory was free.\"",
		[PROBLEM_UNDECIDED] = "\"The event was not decided, since its stack has no names yet.\"",
		[PROBLEM_LENGTH] = "\"The length of a stack is not known yet. 0 is being used as the result.\"",
		[PROBLEM_MISSING] = "\"Success\", \"helper\": \"map_lookup_elem\", \"retcode\": 0",
	};

	begin_line(line, problem_is_helper(p->kind) ? "helper_error" : "runtime_error");
	str_addf(line, ", \"msg\": %s", texts[p->kind]);
	add_place(line, p->filename, p->line, p->col);
}

static void add_trial(struct str *line, const struct output_trials *t)
{
	const struct output_trial *one = &t->list[t->at];

	begin_line(line, t->are_tests ? "test_result" : "benchmark_result");
	str_add(line, ", \"data\": {");
	add_text(line, one->name);
	if (t->are_tests)
		str_addf(line, ": {\"duration\": %.0f, \"passed\": %s}}", one->ns, one->failed ? "false" : "true");
	else
		str_addf(line, ": {\"average\": %.1f, \"iters\": %" PRIu64 "}}", one->ns, one->runs);
}

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
		add_lost(&line, e);
		break;
	case OUTPUT_MESSAGE:
		add_message(&line, e->message);
		break;
	case OUTPUT_PROBLEM:
		add_problem(&line, e->problem);
		break;
	case OUTPUT_TRIALS:
		if (e->trials->step != TRIAL_ENDS)
			return;
		add_trial(&line, e->trials);
		break;
	}
	end_line(o, &line);
	fflush(o->file); /* a reader may wait for it */
}

const struct output output_json = {
	.name = "json",
	.help = "bpftrace's JSON objects, one per line, with stacks also as frames",
	.content = OUTPUT_OBJECTS,
	.escapes = true,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = print_event,
};
