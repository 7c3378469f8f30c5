// SPDX-License-Identifier: Apache-2.0
/* folded.c - -f folded: input for flame graph programs. Each entry of a map keyed by stacks is one line,
 * whatever the mode of the stacks:
 *
 *     first;outermost;...;innermost COUNT
 *
 * `first` is the rest of the key, such as comm. The reader takes every line for a stack, so the script's
 * other output goes to stderr. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "collect.h"
#include "model/image.h"
#include "recording.h"
#include "text.h"
#include "values/entries.h"
#include "values/show.h"

struct line {
	size_t at;       /* offset of its text in `texts` */
	uint64_t weight;
	size_t number;   /* position in the map */
};

struct lines {
	struct str texts;
	VEC(struct line) list;
};

/* ---- a line -------------------------------------------------------------- */

/* ';' separates frames. */
static void add_plain(struct str *out, const char *text)
{
	for (; *text; text++)
		str_addc(out, *text == ';' ? ':' : *text);
}

static void add_separator(struct str *out, size_t from)
{
	if (out->len > from)
		str_addc(out, ';');
}

static void add_stack(const struct recording *r, const struct recorded_part *part, size_t from, struct str *out)
{
	if (part->text != NO_TEXT) {
		add_separator(out, from);
		str_addf(out, "[%s]", recording_text(r, part->text));
	}
	for (size_t i = part->n; i-- > 0;) {
		const struct recorded_frame *f = &r->frames.data[r->ids.data[part->first + i]];

		add_separator(out, from);
		add_plain(out, recording_text(r, f->function));
		str_add(out, show_annotation(&f->shown));
	}
}

static void add_line(const struct picture *p, const struct recorded_map *m, const struct recorded_entry *e,
	struct str *out)
{
	const struct recorded_part *parts = p->recording->parts.data + e->parts;
	size_t from = out->len;

	for (unsigned i = 0; !p->labels && i < m->ncolumns; i++) {
		const char *text = m->columns[i].is_stack ? "" : recording_text(p->recording, parts[i].text);

		if (!*text)
			continue;
		add_separator(out, from);
		add_plain(out, text);
	}
	for (int kernel = 0; kernel < 2; kernel++)
		for (unsigned i = 0; i < m->ncolumns; i++)
			if (m->columns[i].is_stack && m->columns[i].is_kernel == kernel)
				add_stack(p->recording, &parts[i], from, out);
	if (out->len == from)
		str_add(out, "[no stack]");
}

/* ---- a map --------------------------------------------------------------- */

static int by_text(const void *a, const void *b, void *texts)
{
	const struct line *x = a, *y = b;
	int r = strcmp((char *)texts + x->at, (char *)texts + y->at);

	return r ? r : (x->number > y->number) - (x->number < y->number);
}

static int by_number(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Merges equal lines at the position of the last one, which has the largest value. */
static void merge(struct lines *l)
{
	size_t kept = 0;

	qsort_r(l->list.data, l->list.len, sizeof(struct line), by_text, l->texts.data);
	for (size_t i = 0; i < l->list.len; i++) {
		struct line *last = kept ? &l->list.data[kept - 1] : NULL, *next = &l->list.data[i];

		if (last && !strcmp(l->texts.data + last->at, l->texts.data + next->at)) {
			last->weight += next->weight;
			last->number = next->number;
		} else {
			l->list.data[kept++] = *next;
		}
	}
	l->list.len = kept;
	qsort(l->list.data, l->list.len, sizeof(struct line), by_number);
}

/* once: merge equal lines; entries of a script's map differ as the script's modes say. */
static void write_map(const struct picture *p, const struct recorded_map *m, bool once, FILE *file)
{
	struct lines l = {};

	for (size_t i = 0; i < m->entries.len; i++) {
		struct line line = {.at = l.texts.len, .weight = m->entries.data[i].weight, .number = i};

		add_line(p, m, &m->entries.data[i], &l.texts);
		str_addn(&l.texts, "", 1);
		vec_push(&l.list, line);
	}
	if (once && l.list.len)
		merge(&l);
	for (size_t i = 0; i < l.list.len; i++)
		fprintf(file, "%s %" PRIu64 "\n", l.texts.data + l.list.data[i].at, l.list.data[i].weight);
	vec_done(&l.list);
	str_done(&l.texts);
}

static int render(const struct picture *p, FILE *file)
{
	for (size_t i = 0; i < p->recording->maps.len; i++)
		write_map(p, p->recording->maps.data[i], true, file);
	return 0;
}

/* A map is written when it is printed. */
static void print_map(struct out *o, const struct map_content *c)
{
	struct recording *r;

	if (!recording_takes(c->map)) {
		text_map(o->show, c, false, stderr);
		return;
	}
	r = recording_new();
	collect_warn(recording_add(r, o->show, c));
	write_map(&(struct picture){.recording = r}, r->maps.data[0], false, o->file);
	recording_free(r);
}

const struct output output_folded = {
	.name = "folded",
	.help = "input for flame graphs: one line for each stack of a map",
	.endings = "folded",
	.content = OUTPUT_STACKS,
	.begin = collect_begin,
	.text = collect_text,
	.value = collect_value,
	.map = print_map,
	.event = output_event_log,
	.render = render,
};
