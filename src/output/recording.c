// SPDX-License-Identifier: Apache-2.0
/* recording.c - see recording_write.h; and the row for x.json, which has all output of a script: maps keyed
 * by stacks as recordings, the rest in the format of -f json. */
#include "recording.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/str.h"
#include "collect.h"
#include "json_value.h"
#include "model/image.h"
#include "recording_write.h"
#include "totals.h"
#include "values/entries.h"

static void add_text(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	str_addf(out, ", \"%s\": ", name);
	str_add_json(out, text, strlen(text));
}

static void end_line(struct str *line, FILE *out)
{
	str_add(line, "}\n");
	fwrite(line->data, 1, line->len, out);
	str_done(line);
}

void recording_write_head(const struct recording *r, FILE *out)
{
	struct str line = {};

	str_add(&line, "{\"type\": \"recording\", \"version\": 1");
	add_text(&line, "strata", r->version);
	add_text(&line, "host", r->host);
	add_text(&line, "kernel", r->kernel);
	end_line(&line, out);
}

void recording_write_about(const char *about, FILE *out)
{
	struct str line = {};

	str_add(&line, "{\"type\": \"about\"");
	add_text(&line, "text", about);
	end_line(&line, out);
}

/* ---- frames -------------------------------------------------------------- */

static void write_frame(const struct recorded_frame *f, FILE *out)
{
	const struct frame_name *n = &f->shown.name;
	struct str line = {};

	str_addf(&line, "{\"type\": \"frame\", \"kind\": \"%s\"", json_frame_kind(n->lang));
	add_text(&line, "function", n->name);
	add_text(&line, "file", n->file);
	if (n->line)
		str_addf(&line, ", \"line\": %u", n->line);
	else if (n->begins)
		str_addf(&line, ", \"begins\": %u", n->begins);
	if (f->shown.last_line > n->line)
		str_addf(&line, ", \"last_line\": %u", f->shown.last_line);
	if (n->column)
		str_addf(&line, ", \"column\": %u", n->column);
	add_text(&line, "module", n->module);
	add_text(&line, "build_id", f->build_id);
	if (n->offset)
		str_addf(&line, ", \"offset\": %" PRIu64, n->offset);
	if (n->vaddr)
		str_addf(&line, ", \"address\": %" PRIu64, n->vaddr);
	if (n->caller)
		str_add(&line, ", \"inlined\": true");
	if (f->shown.inexact)
		str_add(&line, ", \"inexact\": true");
	end_line(&line, out);
}

/* ---- maps ---------------------------------------------------------------- */

static void add_shape(struct str *out, const struct type *t)
{
	bool is_agg = t->kind == TYPE_AGG;

	str_addf(out, ", \"value\": {\"kind\": \"%s\"", is_agg ? recording_kinds[t->agg.kind] : "number");
	if (t->is_signed)
		str_add(out, ", \"signed\": true");
	if (is_agg && t->agg.kind == AGG_HIST)
		str_addf(out, ", \"bits\": %u", t->agg.bits);
	if (is_agg && t->agg.kind == AGG_LHIST)
		str_addf(out, ", \"min\": %" PRId64 ", \"max\": %" PRId64 ", \"step\": %" PRId64, t->agg.min,
			t->agg.max, t->agg.step);
	if (is_agg && t->agg.kind >= AGG_HIST)
		str_addf(out, ", \"buckets\": %u", t->agg.buckets);
	str_addc(out, '}');
}

static void write_shape(const struct recorded_map *m, FILE *out)
{
	struct str line = {};

	str_addf(&line, "{\"type\": \"%s\"", m->is_table ? "table" : "profile");
	add_text(&line, "name", m->name);
	add_text(&line, "unit", m->unit);
	str_addf(&line, ", \"time\": %" PRIu64 ", \"divided_by\": %" PRId64, m->ns, m->div);
	if (m->begun)
		str_addf(&line, ", \"begun\": %" PRIu64, m->begun);
	if (m->window)
		str_add(&line, ", \"window\": true");
	add_shape(&line, &m->value);
	str_add(&line, ", \"key\": [");
	for (unsigned i = 0; i < m->ncolumns; i++) {
		const struct recorded_column *c = &m->columns[i];

		str_add(&line, i ? ", {\"label\": " : "{\"label\": ");
		str_add_json(&line, c->label, strlen(c->label));
		if (c->is_stack)
			str_addf(&line, ", \"mode\": \"%s\"", stack_mode_names[c->mode]);
		if (c->is_kernel)
			str_add(&line, ", \"kernel\": true");
		str_addc(&line, '}');
	}
	str_addc(&line, ']');
	end_line(&line, out);
}

static void add_part(const struct recording *r, const struct recorded_part *p, struct str *out)
{
	if (!p->is_stack) {
		if (p->is_number)
			str_addf(out, "%" PRId64, p->number);
		else
			str_add_json(out, recording_text(r, p->text), strlen(recording_text(r, p->text)));
		return;
	}
	str_add(out, "{\"frames\": [");
	for (uint32_t i = 0; i < p->n; i++)
		str_addf(out, i ? ", %u" : "%u", r->ids.data[p->first + i]);
	str_addc(out, ']');
	if (p->text != NO_TEXT)
		add_text(out, "end", recording_text(r, p->text));
	str_addc(out, '}');
}

static void write_entry(const struct recording *r, const struct recorded_map *m, const struct recorded_entry *e,
	FILE *out)
{
	struct str line = {};

	str_add(&line, "{\"key\": [");
	for (unsigned i = 0; i < m->ncolumns; i++) {
		str_add(&line, i ? ", " : "");
		add_part(r, &r->parts.data[e->parts + i], &line);
	}
	str_add(&line, "], \"value\": [");
	for (unsigned i = 0; i < m->nvalues; i++)
		str_addf(&line, i ? ", %" PRIu64 : "%" PRIu64, e->values[i]);
	str_addc(&line, ']');
	end_line(&line, out);
}

void recording_write_map(const struct recording *r, const struct recorded_map *m, size_t *frames, FILE *out)
{
	for (; *frames < r->frames.len; ++*frames)
		write_frame(&r->frames.data[*frames], out);
	write_shape(m, out);
	for (size_t i = 0; i < m->entries.len; i++)
		write_entry(r, m, &m->entries.data[i], out);
}

/* ---- the row ------------------------------------------------------------- */

static void set_machine(struct recording *r)
{
	struct utsname u;

	r->version = STRATA_VERSION;
	if (uname(&u))
		return;
	r->host = arena_strdup(r->arena, u.nodename);
	r->kernel = arena_strdup(r->arena, u.release);
}

static void begin(struct out *o, const struct image *img)
{
	if (o->recording)
		return;
	o->recording = recording_new();
	set_machine(o->recording);
	recording_write_head(o->recording, o->file);
}

/* Writes a map when it is printed, with the frames that are known by then. */
static void print_map(struct out *o, const struct map_content *c)
{
	struct recording *r = o->recording;
	struct recorded_map *m;
	size_t frames = r ? r->frames.len : 0;

	if (!r || !recording_takes(c->map))
		output_json.map(o, c);
	if (!r || c->first >= c->n || !(recording_takes(c->map) || recording_takes_table(c->map)))
		return;
	m = recording_add(r, o->show, c);
	o->totals = o->totals ? o->totals : totals_new(o->begun);
	m->begun = totals_begun(o->totals, c->map);
	m->window = c->taken;
	if (c->taken)
		totals_begin(o->totals, c->map, m->ns);
	collect_warn(m);
	recording_write_map(r, m, &frames, o->file);
	vec_done(&m->entries);
	r->ids.len = r->parts.len = 0;
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	output_json.text(o, kind, text, size);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	output_json.value(o, t, data);
}

static void print_event(struct out *o, const struct output_event *e)
{
	output_json.event(o, e);
	if (e->kind != OUTPUT_ATTACHED)
		output_event_log(o, e); /* show it to a waiting person */
}

static void finish(struct out *o)
{
	if (o->about)
		recording_write_about(o->about, o->file);
	recording_free(o->recording);
	o->recording = NULL;
}

static int render(const struct picture *p, FILE *file)
{
	size_t frames = 0;

	recording_write_head(p->recording, file);
	for (size_t i = 0; i < p->recording->maps.len; i++)
		recording_write_map(p->recording, p->recording->maps.data[i], &frames, file);
	for (size_t i = 0; i < p->recording->tables.len; i++)
		recording_write_map(p->recording, p->recording->tables.data[i], &frames, file);
	if (p->recording->about)
		recording_write_about(p->recording->about, file);
	return 0;
}

const struct output output_recording = {
	.name = "recording",
	.help = "a recording of all output, without loss, for strata show; for files x.json",
	.endings = "json",
	.content = OUTPUT_STACKS,
	.escapes = true,
	.exact = true,
	.begin = begin,
	.text = print_text,
	.value = print_value,
	.map = print_map,
	.event = print_event,
	.finish = finish,
	.render = render,
};
