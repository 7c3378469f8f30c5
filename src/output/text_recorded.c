// SPDX-License-Identifier: Apache-2.0
/* text_recorded.c - prints a recording like -f text. Recorded entries differ by address; this merges those
 * that the modes of the stacks show alike. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "hottest.h"
#include "output.h"
#include "recording.h"
#include "text.h"
#include "values/show.h"

/* Entries that are merged. */
struct group {
	struct frames_key key;
	size_t entry;      /* index of the first entry in the map */
	struct group *next; /* the other entries; weight and values are only in the first */
	uint64_t weight, *values;
};

struct printing {
	const struct picture *picture;
	const struct recording *recording;
	const struct recorded_map *map;
	struct group *groups;
	size_t n;
};

/* ---- equal entries ------------------------------------------------------- */

static void add_frame_key(const struct recording *r, enum stack_mode mode, uint32_t id, struct frames_key *k)
{
	const struct recorded_frame *f = &r->frames.data[id];
	uint32_t line = f->shown.name.line;

	if (mode == STACK_FUNC || mode == STACK_FOLDED || mode == STACK_LINE)
		frames_key_add(k, &f->function, sizeof(f->function));
	else
		frames_key_add(k, &id, sizeof(id));
	if (mode == STACK_LINE)
		frames_key_add(k, &line, sizeof(line));
}

static void make_key(const struct printing *p, const struct recorded_entry *e, struct frames_key *k)
{
	const struct recording *r = p->recording;

	for (unsigned i = 0; i < p->map->ncolumns; i++) {
		const struct recorded_part *part = &r->parts.data[e->parts + i];

		frames_key_add(k, &part->text, sizeof(part->text));
		for (uint32_t f = 0; f < part->n; f++)
			add_frame_key(r, p->map->columns[i].mode, r->ids.data[part->first + f], k);
	}
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int r = memcmp(&x->key, &y->key, sizeof(x->key));

	return r ? r : (x->entry > y->entry) - (x->entry < y->entry);
}

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Adds values. For min() and max(), takes the value with the lower or higher first word. */
static void add_values(const struct type *t, unsigned n, uint64_t *to, const uint64_t *from)
{
	bool is_agg = t->kind == TYPE_AGG, less;

	if (is_agg && (t->agg.kind == AGG_MIN || t->agg.kind == AGG_MAX)) {
		less = t->is_signed ? (int64_t)from[0] < (int64_t)to[0] : from[0] < to[0];
		if (from[1] && (!to[1] || less == (t->agg.kind == AGG_MIN)))
			memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (unsigned i = 0; i < n; i++)
		to[i] += from[i];
}

static void merge(const struct recorded_map *m, struct group *to, struct group *from)
{
	to->weight += from->weight;
	add_values(&m->value, m->nvalues, to->values, from->values);
	from->next = to->next;
	to->next = from;
}

static void make_groups(struct printing *p)
{
	const struct recorded_map *m = p->map;
	struct group *all = calloc(m->entries.len + 1, sizeof(*all));
	uint64_t *values = calloc(m->entries.len + 1, (m->nvalues + 1) * sizeof(*values));
	size_t first = 0;

	if (!all || !values)
		out_of_memory();
	for (size_t i = 0; i < m->entries.len; i++) {
		const struct recorded_entry *e = &m->entries.data[i];

		all[i] = (struct group){.entry = i, .weight = e->weight, .values = values + i * m->nvalues};
		memcpy(all[i].values, e->values, m->nvalues * sizeof(*values));
		make_key(p, e, &all[i].key);
	}
	qsort(all, m->entries.len, sizeof(*all), by_key);
	p->groups = calloc(m->entries.len + 1, sizeof(*p->groups));
	if (!p->groups)
		out_of_memory();
	for (size_t i = 0; i < m->entries.len; i = first) {
		struct group *g = &p->groups[p->n++];

		*g = all[i];
		first = i + 1;
		while (first < m->entries.len && !memcmp(&all[first].key, &g->key, sizeof(g->key)))
			merge(m, g, &all[first++]);
	}
	qsort(p->groups, p->n, sizeof(*p->groups), by_weight);
	p->groups[p->n] = (struct group){.values = values, .next = all}; /* freed at the end */
}

static void free_groups(struct printing *p)
{
	free(p->groups[p->n].values);
	free(p->groups[p->n].next);
	free(p->groups);
}

/* ---- printing ------------------------------------------------------------ */

static void get_frames(const struct recording *r, const struct recorded_part *part, struct frame_list *ret)
{
	*ret = (struct frame_list){.end = UNWIND_COMPLETE};
	for (uint32_t i = 0; i < part->n; i++)
		vec_push(ret, r->frames.data[r->ids.data[part->first + i]].shown);
}

static const struct recorded_part *part_of(const struct printing *p, const struct group *g, unsigned i)
{
	return &p->recording->parts.data[p->map->entries.data[g->entry].parts + i];
}

static void add_stack(const struct printing *p, const struct group *g, unsigned column, struct str *out)
{
	const struct recorded_column *c = &p->map->columns[column];
	struct type t = {.kind = TYPE_STACK, .stack = {.mode = c->mode,
		.lang = c->is_kernel ? FRAME_LANG_KERNEL : FRAME_LANG_NATIVE}};
	const struct recorded_part *part = part_of(p, g, column);
	const char *why = part->text == NO_TEXT ? NULL : recording_text(p->recording, part->text);
	const struct show show = {};
	struct frame_list l, other;

	get_frames(p->recording, part, &l);
	for (const struct group *same = g->next; same; same = same->next) {
		get_frames(p->recording, part_of(p, same, column), &other);
		frames_widen(&l, &other);
		frames_done(&other);
	}
	if (why && c->mode == STACK_FOLDED)
		str_addf(out, l.len ? "[%s];" : "[%s]", why);
	show_frames(&show, &t, &l, out);
	if (why && c->mode != STACK_FOLDED)
		str_addf(out, "        [%s]\n", why);
	frames_done(&l);
}

/* Prints shares for a person, if values are parts of a whole. */
static bool has_shares(const struct printing *p)
{
	return p->picture->terminal && !p->map->is_table && p->map->total && text_has_shares(&p->map->value);
}

/* A recording is shown to a person, who does not need its empty stacks. */
static void add_key(const struct printing *p, const struct group *g, struct str *out)
{
	const struct recorded_map *m = p->map;
	bool any = false;

	for (unsigned i = 0; i < m->ncolumns; i++) {
		const struct recorded_column *c = &m->columns[i];
		struct str part = {};

		if (c->is_stack)
			add_stack(p, g, i, &part);
		else
			str_add(&part, recording_text(p->recording, part_of(p, g, i)->text));
		text_key_part(&part, c->is_stack && m->ncolumns > 1, &any, out);
		str_done(&part);
	}
}

static void print_group(const struct printing *p, const struct group *g, FILE *file)
{
	const struct recorded_map *m = p->map;
	struct str text = {};

	str_addf(&text, m->ncolumns ? "@%s[" : "@%s", m->name);
	add_key(p, g, &text);
	str_add(&text, m->ncolumns ? "]:" : ":");
	str_addc(&text, m->value.kind == TYPE_AGG && m->value.agg.kind >= AGG_HIST ? '\n' : ' ');
	text_number(&m->value, (const uint8_t *)g->values, m->div, &text);
	if (has_shares(p))
		str_addf(&text, "  %.1f %%", 100 * (double)g->weight / (double)m->total);
	str_addc(&text, '\n');
	fwrite(text.data, 1, text.len, file);
	str_done(&text);
}

/* Appends all stacks of the key as one list: the kernel's frames first, because user frames call them. */
static void add_frames(const struct printing *p, const struct group *g, bool kernel, struct frame_list *l)
{
	struct frame_list part;

	for (unsigned i = 0; i < p->map->ncolumns; i++) {
		if (!p->map->columns[i].is_stack || p->map->columns[i].is_kernel != kernel)
			continue;
		get_frames(p->recording, part_of(p, g, i), &part);
		for (size_t k = 0; k < part.len; k++)
			vec_push(l, part.data[k]);
		frames_done(&part);
	}
}

/* Prints the total and the functions with the largest parts, for a person. */
static void print_total(const struct printing *p, size_t first, FILE *file)
{
	struct hottest *h = hottest_new();
	double total = (double)p->map->total, left_out = 0;

	for (size_t i = 0; i < first; i++)
		left_out += 100 * (double)p->groups[i].weight / total;
	text_total(p->map->name, total, p->n, first, left_out, file);
	for (size_t i = 0; i < p->n; i++) {
		struct frame_list l = {};

		add_frames(p, &p->groups[i], true, &l);
		add_frames(p, &p->groups[i], false, &l);
		hottest_add(h, &l, 100 * (double)p->groups[i].weight / total);
		frames_done(&l);
	}
	if (p->n > TEXT_FEW_STACKS)
		hottest_print(h, TEXT_HOTTEST, file);
	hottest_free(h);
}

static void print_map(const struct picture *picture, const struct recorded_map *m, FILE *file)
{
	struct printing p = {.picture = picture, .recording = picture->recording, .map = m};
	size_t first;

	make_groups(&p);
	first = picture->top && (size_t)picture->top < p.n ? p.n - (size_t)picture->top : 0;
	for (size_t i = first; i < p.n; i++)
		print_group(&p, &p.groups[i], file);
	if (has_shares(&p))
		print_total(&p, first, file);
	free_groups(&p);
}

int text_recorded(const struct picture *p, FILE *file)
{
	const struct recording *r = p->recording;
	size_t line = 0;

	for (size_t i = 0; i <= r->maps.len; i++) {
		for (; line < r->lines.len && r->lines.data[line].maps <= i; line++)
			fputs(r->lines.data[line].text, file);
		if (i < r->maps.len)
			print_map(p, r->maps.data[i], file);
	}
	for (size_t i = 0; i < r->tables.len; i++)
		if (!r->tables.data[i]->has_line)
			print_map(p, r->tables.data[i], file);
	return 0;
}
