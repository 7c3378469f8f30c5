// SPDX-License-Identifier: Apache-2.0
/* recording_map.c - adds a script's map, after it was read, to a recording. This names the frames. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/str.h"
#include "model/image.h"
#include "key_parts.h"
#include "recording.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/show.h"

/* A frame that was found before, by members that are fast to compare. */
struct known_frame {
	uint64_t frame;
	const char *name, *file;
	uint64_t offset;
	uint32_t line, last_line, column;
	bool inexact, inlined;
	uint32_t number; /* + 1; 0: free */
};

struct adding {
	struct recording *recording;
	struct recorded_map *map;
	const struct show *show;
	const struct map_entry *entry;
	const struct type *key;    /* of the map; NULL: none */
	struct known_frame *known; /* open addressing */
	size_t nslots, nknown;
	unsigned column;           /* the next */
};

bool recording_takes(const struct image_map *m)
{
	return type_has(m->key, TYPE_STACK) && recording_values(m->value);
}

bool recording_takes_table(const struct image_map *m)
{
	return !type_has(m->key, TYPE_STACK) && recording_values(m->value);
}

/* ---- columns ------------------------------------------------------------- */

/* Returns whether the parts of a tuple in the key become columns: if it is the key, or contains a stack. */
static bool is_split(const struct type *key, const struct type *t)
{
	return t->kind == TYPE_TUPLE && (t == key || type_has(t, TYPE_STACK));
}

static unsigned count_columns(const struct type *key, const struct type *t)
{
	unsigned n = 0;

	if (!t || !is_split(key, t))
		return t != NULL;
	for (unsigned i = 0; i < t->tuple.n; i++)
		n += count_columns(key, t->tuple.members[i]);
	return n;
}

static void fill_columns(const struct type *key, const struct type *t, struct recorded_column **at)
{
	struct recorded_column *c = *at;

	for (unsigned i = 0; is_split(key, t) && i < t->tuple.n; i++)
		fill_columns(key, t->tuple.members[i], at);
	if (is_split(key, t))
		return;
	*at += 1;
	c->label = "key";
	c->is_stack = t->kind == TYPE_STACK;
	c->is_kernel = c->is_stack && t->stack.lang == FRAME_LANG_KERNEL;
	c->mode = c->is_stack ? t->stack.mode : STACK_FUNC;
	if (c->is_stack)
		c->label = c->is_kernel ? "kernel stack" : "stack";
}

/* Names columns by the script's text: "comm", "args.fd". */
static void name_columns(struct recording *r, struct recorded_map *m, const char *text)
{
	for (unsigned i = 0; i < m->ncolumns; i++) {
		struct str name = {};

		if (m->columns[i].is_stack)
			continue;
		key_part_name(text, i, m->ncolumns, &name);
		m->columns[i].label = arena_strdup(r->arena, str_text(&name));
		str_done(&name);
	}
}

/* ---- frames -------------------------------------------------------------- */

static uint64_t hash_of(const struct shown_frame *f)
{
	uint64_t h = f->frame * 0x9e3779b97f4a7c15;

	h = (h ^ (uintptr_t)f->name.name ^ (uint64_t)f->name.line << 40) * 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

static bool is_same(const struct known_frame *k, const struct shown_frame *f)
{
	const struct frame_name *n = &f->name;

	return k->frame == f->frame && k->name == n->name && k->file == n->file && k->offset == n->offset &&
		k->line == n->line && k->last_line == f->last_line && k->column == n->column &&
		k->inexact == f->inexact && k->inlined == (n->caller != NULL);
}

static void grow(struct adding *a)
{
	struct known_frame *old = a->known;
	size_t n = a->nslots;

	if (2 * a->nknown < n)
		return;
	a->nslots = n ? 2 * n : 1024;
	a->known = calloc(a->nslots, sizeof(*a->known));
	if (!a->known)
		out_of_memory();
	for (size_t i = 0; i < n; i++) {
		struct shown_frame f = {.frame = old[i].frame, .name = {.name = old[i].name, .line = old[i].line}};
		size_t at = hash_of(&f) & (a->nslots - 1);

		if (!old[i].number)
			continue;
		while (a->known[at].number)
			at = (at + 1) & (a->nslots - 1);
		a->known[at] = old[i];
	}
	free(old);
}

/* Files have a build id; a language's frames have one only if its code is native. */
static const char *build_id_of(const struct show *s, const struct shown_frame *f, char text[2 * 64 + 1])
{
	uint8_t id[64];
	size_t n = 0;

	if (s->unwinders && (f->name.lang == FRAME_LANG_NATIVE || LANGS_NATIVE >> f->name.lang & 1))
		n = unwinders_build_id(s->unwinders, f->frame, id);
	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return n ? text : NULL;
}

static uint32_t number_of(struct adding *a, const struct shown_frame *f)
{
	char id[2 * 64 + 1];
	struct known_frame *k;
	size_t at;

	grow(a);
	at = hash_of(f) & (a->nslots - 1);
	while (a->known[at].number && !is_same(&a->known[at], f))
		at = (at + 1) & (a->nslots - 1);
	k = &a->known[at];
	if (k->number)
		return k->number - 1;
	*k = (struct known_frame){f->frame, f->name.name, f->name.file, f->name.offset, f->name.line, f->last_line,
		f->name.column, f->inexact, f->name.caller != NULL,
		recording_add_frame(a->recording, f, build_id_of(a->show, f, id)) + 1};
	a->nknown++;
	return k->number - 1;
}

/* ---- entries ------------------------------------------------------------- */

static void add_stack(struct adding *a, const struct type *t, uint32_t at, struct recorded_part *part)
{
	struct recording *r = a->recording;
	struct frame_list l;
	const char *why;

	frames_of_entry(a->show, t, a->entry, at, &l);
	why = show_end(t, &l);
	part->is_stack = true;
	part->text = why ? recording_add_text(r, why) : NO_TEXT;
	part->first = r->ids.len;
	part->n = (uint32_t)l.len;
	for (size_t i = 0; i < l.len; i++) {
		uint32_t n = number_of(a, &l.data[i]);

		vec_push(&r->ids, n);
	}
	frames_done(&l);
}

static void add_value(struct adding *a, const struct type *t, uint32_t at, struct recorded_part *part)
{
	struct recording *r = a->recording;
	struct str text = {};

	frames_add_other(a->show, t, a->entry, at, &text);
	part->text = recording_add_text(r, str_text(&text));
	part->is_number = t->kind == TYPE_INT && !t->integer.names && (t->is_signed || t->size < 8);
	part->number = part->is_number ? show_int(t, a->entry->key + at) : 0;
	str_done(&text);
}

static void add_part(struct adding *a, const struct type *t, uint32_t at)
{
	struct recorded_part part = {};

	for (unsigned i = 0; is_split(a->key, t) && i < t->tuple.n; i++)
		add_part(a, t->tuple.members[i], at + t->tuple.offsets[i]);
	if (is_split(a->key, t))
		return;
	if (t->kind == TYPE_STACK)
		add_stack(a, t, at, &part);
	else
		add_value(a, t, at, &part);
	vec_push(&a->recording->parts, part);
}

static void add_entry(struct adding *a, const struct type *key)
{
	const struct type *t = &a->map->value;
	size_t parts = a->recording->parts.len;
	int64_t number = t->kind == TYPE_INT ? show_int(t, a->entry->value) : 0;

	if (key)
		add_part(a, key, 0);
	if (!recording_add_entry(a->recording, a->map, parts,
		t->kind == TYPE_INT ? (uint64_t *)&number : (const uint64_t *)a->entry->value))
		a->recording->parts.len = parts;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool recording_weight_of(const struct type *t, const uint8_t *value, uint64_t *ret)
{
	int64_t number = t->kind == TYPE_INT ? show_int(t, value) : 0;

	return recording_weight(t, t->kind == TYPE_INT ? (uint64_t *)&number : (const uint64_t *)value, ret);
}

struct recorded_map *recording_add(struct recording *r, const struct show *s, const struct map_content *c)
{
	const struct image_map *m = c->map;
	struct recorded_map *to = recording_add_map(r, m->name, m->value, count_columns(m->key, m->key));
	struct recorded_column *column = to->columns;
	struct adding a = {.recording = r, .map = to, .show = s, .key = m->key};

	if (m->key) {
		fill_columns(m->key, m->key, &column);
		name_columns(r, to, m->key_text);
	}
	if (recording_takes_table(m))
		recording_make_table(r);
	to->div = c->div > 1 ? c->div : 1;
	to->ns = now();
	for (size_t i = c->first; i < c->n; i++) {
		a.entry = &c->list[i];
		add_entry(&a, m->key);
	}
	free(a.known);
	return to;
}
