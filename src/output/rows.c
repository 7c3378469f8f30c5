// SPDX-License-Identifier: Apache-2.0
/* rows.c - -f rows: lines of JSON for the tables of a database, which share/sql creates and queries:
 *
 *     {"table": "stacks", ..}    a stack with its frames, the innermost first
 *     {"table": "samples", ..}   an entry of a map: its time, labels, stack and value
 *     {"table": "logs", ..}      text, values and losses
 *
 * A sample has the number of its stack, not its frames: that makes rows three times smaller. The number is a hash of
 * the frames' names, so it is the same on all hosts. A row of a stack is repeated each hour. */
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "collect.h"
#include "output.h"
#include "recording.h"
#include "recording_write.h"
#include "resource.h"
#include "totals.h"
#include "values/entries.h"

enum { KNOWN = 1 << 17, SECOND = 1000000000, HOUR = 3600 };

struct rows {
	struct str service, version, host;
	uint64_t known[KNOWN]; /* stacks that were written, by the last bits of their hash; 0: none */
	uint64_t hour;         /* in which they were written, since 1970 */
	bool ended, warned;
	struct str line;
};

/* A map of a recording, and where its rows go. */
struct writer {
	struct rows *rows;
	const struct recording *recording;
	const struct recorded_map *map;
	FILE *file;
};

/* ---- members ------------------------------------------------------------- */

static void add_text(struct str *out, const char *name, const char *text)
{
	str_addf(out, ", \"%s\": ", name);
	str_add_json(out, text, strlen(text));
}

static void begin_row(struct rows *r, const char *table)
{
	str_clear(&r->line);
	str_addf(&r->line, "{\"table\": \"%s\"", table);
}

static void end_row(struct rows *r, FILE *file)
{
	str_add(&r->line, "}\n");
	fwrite(r->line.data, 1, r->line.len, file);
}

static struct rows *rows_new(void)
{
	struct rows *r = calloc(1, sizeof(*r));
	struct utsname u;

	if (!r)
		out_of_memory();
	if (!resource_value("service.name", &r->service))
		str_add(&r->service, "strata");
	resource_value("service.version", &r->version);
	if (!resource_value("host.name", &r->host) && !uname(&u))
		str_add(&r->host, u.nodename);
	return r;
}

void rows_free(struct rows *r)
{
	if (!r)
		return;
	str_done(&r->service);
	str_done(&r->version);
	str_done(&r->host);
	str_done(&r->line);
	free(r);
}

/* ---- columns of a key ----------------------------------------------------- */

/* These parts of a key are columns of their own. */
static const char *const columns[] = {"service", "host", "trace_id"};

static const char *column_text(const struct writer *w, const struct recorded_entry *e, const char *name)
{
	for (unsigned i = 0; i < w->map->ncolumns; i++)
		if (!w->map->columns[i].is_stack && !strcmp(w->map->columns[i].label, name))
			return recording_text(w->recording, w->recording->parts.data[e->parts + i].text);
	return NULL;
}

static const char *service_of(const struct writer *w, const struct recorded_entry *e)
{
	const char *service = column_text(w, e, "service");

	return service && *service ? service : str_text(&w->rows->service);
}

static bool is_column(const char *label)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(label, columns[i]))
			return true;
	return false;
}

/* Members of an object differ: a label that came before gets a number. */
static void add_label(const struct writer *w, unsigned at, struct str *out)
{
	const char *label = w->map->columns[at].label;
	struct str name = {};

	str_add(&name, *label == '$' && label[1] ? label + 1 : label);
	for (unsigned i = 0; i < at; i++)
		if (!w->map->columns[i].is_stack && !strcmp(w->map->columns[i].label, label)) {
			str_addf(&name, "%u", at + 1);
			break;
		}
	str_add_json(out, str_text(&name), name.len);
	str_done(&name);
}

static void add_labels(const struct writer *w, const struct recorded_entry *e, struct str *out)
{
	bool any = false;

	str_add(out, ", \"labels\": {");
	for (unsigned i = 0; i < w->map->ncolumns; i++) {
		const struct recorded_part *part = &w->recording->parts.data[e->parts + i];
		const char *text = part->is_stack ? NULL : recording_text(w->recording, part->text);

		if (!text || is_column(w->map->columns[i].label))
			continue;
		str_add(out, any ? ", " : "");
		any = true;
		add_label(w, i, out);
		str_add(out, ": ");
		str_add_json(out, text, strlen(text));
	}
	str_addc(out, '}');
}

/* ---- stacks --------------------------------------------------------------- */

static void add_frame(const struct writer *w, uint32_t text, struct frames_key *key, struct str *frames)
{
	const char *name = recording_text(w->recording, text);

	frames_key_add(key, name, strlen(name) + 1);
	str_add(frames, frames->len ? ", " : "");
	str_add_json(frames, name, strlen(name));
}

/* Kernel frames come before those of the program that called the kernel. Returns the hash of all, which is not 0. */
static uint64_t add_frames(const struct writer *w, const struct recorded_part *parts, struct str *frames)
{
	const struct recording *r = w->recording;
	struct frames_key key = {};

	for (int kernel = 1; kernel >= 0; kernel--)
		for (unsigned i = w->map->ncolumns; i-- > 0;) {
			if (!w->map->columns[i].is_stack || w->map->columns[i].is_kernel != kernel)
				continue;
			for (uint32_t k = 0; k < parts[i].n; k++)
				add_frame(w, r->frames.data[r->ids.data[parts[i].first + k]].function, &key, frames);
			if (parts[i].text != NO_TEXT)
				add_frame(w, parts[i].text, &key, frames);
		}
	key.a ^= key.b;
	return key.a ? key.a : 1;
}

/* Returns whether the stack was written before, in this hour. */
static bool is_known(const struct writer *w, const char *service, uint64_t stack)
{
	struct frames_key key = {.a = stack};
	uint64_t hour = w->map->ns / SECOND / HOUR, *slot;
	bool known;

	if (w->rows->hour != hour)
		memset(w->rows->known, 0, sizeof(w->rows->known));
	w->rows->hour = hour;
	frames_key_add(&key, service, strlen(service));
	key.a = key.a ? key.a : 1;
	slot = &w->rows->known[key.a % KNOWN];
	known = *slot == key.a;
	*slot = key.a;
	return known;
}

static uint64_t write_stack(const struct writer *w, const struct recorded_entry *e)
{
	const char *service = service_of(w, e);
	struct str frames = {};
	uint64_t id = add_frames(w, w->recording->parts.data + e->parts, &frames);
	struct str *line = &w->rows->line;

	if (!is_known(w, service, id)) {
		begin_row(w->rows, "stacks");
		add_text(line, "service", service);
		str_addf(line, ", \"stack_id\": \"%" PRIu64 "\", \"last_seen\": %" PRIu64 ", \"frames\": [%s]", id,
			w->map->ns / SECOND, str_text(&frames));
		end_row(w->rows, w->file);
	}
	str_done(&frames);
	return id;
}

/* ---- samples -------------------------------------------------------------- */

/* stack: 0 for none. */
static void begin_sample(const struct writer *w, const struct recorded_entry *e, uint64_t stack)
{
	const struct recorded_map *m = w->map;
	const char *host = column_text(w, e, "host"), *trace = column_text(w, e, "trace_id");
	const char *kind = m->value.kind == TYPE_AGG ? recording_kinds[m->value.agg.kind] : "number";
	struct str *line = &w->rows->line;

	begin_row(w->rows, "samples");
	str_addf(line, ", \"begun\": %" PRIu64 ", \"ended\": %" PRIu64,
		(m->begun && m->begun < m->ns ? m->begun : m->ns) / SECOND, m->ns / SECOND);
	add_text(line, "service", service_of(w, e));
	add_text(line, "type", *m->name ? m->name : !strcmp(m->unit, "count") ? "samples" : "values");
	add_text(line, "kind", kind);
	add_text(line, "unit", m->unit);
	add_text(line, "host", host ? host : w->recording->host ? w->recording->host : str_text(&w->rows->host));
	add_text(line, "version", str_text(&w->rows->version));
	add_labels(w, e, line);
	if (trace)
		add_text(line, "trace_id", trace);
	if (stack)
		str_addf(line, ", \"stack_id\": \"%" PRIu64 "\"", stack);
}

static void end_sample(const struct writer *w, int64_t value)
{
	str_addf(&w->rows->line, ", \"value\": %" PRId64, value);
	end_row(w->rows, w->file);
}

/* Each bucket is a row: the number of its values, and its largest value. */
static void write_buckets(const struct writer *w, const struct recorded_entry *e)
{
	const struct type *t = &w->map->value;
	uint32_t first, last;

	if (!show_buckets(t, e->values, &first, &last))
		return;
	for (uint32_t i = first; i <= last; i++) {
		struct bucket b;

		if (!e->values[i])
			continue;
		show_bucket(t, i, &b);
		begin_sample(w, e, 0);
		str_addf(&w->rows->line, ", \"upper\": %" PRId64,
			(int64_t)(b.no_high || (!b.is_signed && b.high > INT64_MAX) ? INT64_MAX : b.high));
		end_sample(w, (int64_t)e->values[i] / w->map->div);
	}
}

/* Averages have the sum of their values, and their number. */
static void write_table_entry(const struct writer *w, const struct recorded_entry *e)
{
	const struct type *t = &w->map->value;
	bool is_agg = t->kind == TYPE_AGG, is_average = is_agg && (t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS);

	if (is_agg && t->agg.kind >= AGG_HIST) {
		write_buckets(w, e);
		return;
	}
	if (is_agg && (t->agg.kind == AGG_MIN || t->agg.kind == AGG_MAX) && !e->values[1])
		return; /* no value yet */
	begin_sample(w, e, 0);
	if (is_average)
		str_addf(&w->rows->line, ", \"number\": %" PRIu64, e->values[0]);
	end_sample(w, (int64_t)e->values[is_average] / w->map->div);
}

static void write_map(const struct writer *w)
{
	for (size_t i = 0; i < w->map->entries.len; i++) {
		const struct recorded_entry *e = &w->map->entries.data[i];

		if (w->map->is_table) {
			write_table_entry(w, e);
			continue;
		}
		begin_sample(w, e, write_stack(w, e));
		end_sample(w, (int64_t)e->weight);
	}
}

/* ---- a running script ------------------------------------------------------ */

static struct rows *rows_of(struct out *o)
{
	o->rows = o->rows ? o->rows : rows_new();
	return o->rows;
}

static void write_log(struct out *o, const char *kind, const char *text, size_t size)
{
	struct rows *r = rows_of(o);

	if (size && text[size - 1] == '\n')
		size--;
	begin_row(r, "logs");
	str_addf(&r->line, ", \"time\": %" PRIu64, clock_ns(CLOCK_REALTIME) / SECOND);
	add_text(&r->line, "service", str_text(&r->service));
	add_text(&r->line, "host", str_text(&r->host));
	add_text(&r->line, "kind", kind);
	str_add(&r->line, ", \"text\": ");
	str_add_json(&r->line, text, size);
	end_row(r, o->file);
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	write_log(o, kind, text, size);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	struct str text = {};

	show_value(o->show, t, data, &text);
	write_log(o, "value", str_text(&text), text.len);
	str_done(&text);
}

static void print_event(struct out *o, const struct output_event *e)
{
	struct str text = {};

	switch (e->kind) {
	case OUTPUT_LOST:
		str_addf(&text, "%s%" PRIu64 " %s", e->are_events ? "Lost " : "", e->n, e->what);
		write_log(o, "lost", str_text(&text), text.len);
		break;
	case OUTPUT_PROBLEM:
		write_log(o, "problem", e->problem->text, strlen(e->problem->text));
		break;
	case OUTPUT_MESSAGE:
		write_log(o, e->message->is_error ? "errorf" : "warnf", e->message->text, strlen(e->message->text));
		break;
	case OUTPUT_ATTACHED:
	case OUTPUT_TRIALS:
		output_event_log(o, e);
		break;
	}
	str_done(&text);
	fflush(o->file); /* a reader may wait for it */
}

/* Returns whether a later print repeats these values. */
static bool is_repeated(const struct rows *r, const struct map_content *c)
{
	const struct type *t = c->map->value;

	return !r->ended && !c->taken && t->kind == TYPE_AGG && t->agg.kind != AGG_MIN && t->agg.kind != AGG_MAX &&
		t->agg.kind != AGG_TSERIES;
}

static void warn_repeated(struct rows *r, const char *name)
{
	if (r->warned)
		return;
	r->warned = true;
	log_warn("-f rows writes @%s only at the end, since rows are added up and print() does not empty the map",
		name);
	if (log_warnings)
		log_hint("config = { window = 10s }, or print(@%s); clear(@%s) in one block, writes it in between",
			name, name);
}

static void print_map(struct out *o, const struct map_content *c)
{
	struct rows *r = rows_of(o);
	struct recorded_map *m;

	if (c->first >= c->n)
		return;
	if (!recording_takes(c->map) && !recording_takes_table(c->map)) {
		log_warn("@%s: -f rows has no rows for such values", c->map->name);
		return;
	}
	if (is_repeated(r, c)) {
		warn_repeated(r, c->map->name);
		return;
	}
	o->recording = o->recording ? o->recording : recording_new();
	o->totals = o->totals ? o->totals : totals_new(o->begun);
	m = recording_add(o->recording, o->show, c);
	m->begun = totals_begun(o->totals, c->map);
	if (c->taken)
		totals_begin(o->totals, c->map, m->ns);
	collect_warn(m);
	write_map(&(struct writer){.rows = r, .recording = o->recording, .map = m, .file = o->file});
	recording_free(o->recording);
	o->recording = NULL;
	fflush(o->file);
}

static void end(struct out *o, const struct image_map *const *maps, size_t n)
{
	rows_of(o)->ended = true;
}

/* ---- a recording ----------------------------------------------------------- */

static void write_maps(struct writer *w, struct recorded_map *const *maps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w->map = maps[i];
		if (!recording_repeats(maps, n, i))
			write_map(w);
	}
}

static int render(const struct picture *p, FILE *file)
{
	struct writer w = {.rows = rows_new(), .recording = p->recording, .file = file};

	write_maps(&w, p->recording->maps.data, p->recording->maps.len);
	write_maps(&w, p->recording->tables.data, p->recording->tables.len);
	rows_free(w.rows);
	return 0;
}

const struct output output_rows = {
	.name = "rows",
	.help = "rows for tables of ClickHouse or DuckDB, a line of JSON each",
	.endings = "rows.jsonl rows",
	.content = OUTPUT_OBJECTS,
	.escapes = true,
	.has_times = true,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = print_event,
	.end = end,
	.render = render,
};
