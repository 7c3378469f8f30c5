// SPDX-License-Identifier: Apache-2.0
/* recording_table.c - the contents of a recording: texts, frames and entries, each kept once. */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/str.h"
#include "recording_write.h"
#include "values/hidden.h"
#include "values/show.h"

static const char *const kind_names[] = {
	[FRAME_KIND_KEY] = "key",
	[FRAME_KIND_NATIVE] = "native",
	[FRAME_KIND_INLINED] = "inlined",
	[FRAME_KIND_KERNEL] = "kernel",
	[FRAME_KIND_REASON] = "end of the stack",
#define L(id, stem, builtin, kind, name) [FRAME_KIND_##id] = name,
#include "bpf/languages.def"
#undef L
};

const char *const recording_kinds[] = {
	[AGG_COUNT] = "count", [AGG_SUM] = "sum", [AGG_MIN] = "min", [AGG_MAX] = "max", [AGG_AVG] = "avg",
	[AGG_STATS] = "stats", [AGG_HIST] = "hist", [AGG_LHIST] = "lhist", NULL,
};

const char *frame_kind_name(enum frame_kind k)
{
	return kind_names[k];
}

/* ---- numbers of equal texts and frames ----------------------------------- */

/* Open addressing: a number + 1; 0: free. At most half of the slots are used. */
struct table {
	uint32_t *slots;
	size_t nslots;
};

struct recording_index {
	struct table texts, frames;
};

/* All members that identify a frame, without padding. */
struct frame_id {
	uint64_t offset, vaddr;
	uint32_t name, file, module, build_id; /* texts */
	uint32_t line, begins, last_line, column;
	uint8_t lang, inexact, inlined, pad[5];
};

static uint64_t hash_bytes(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a */

	while (n--)
		h = (h ^ *p++) * 0x100000001b3;
	return h ^ h >> 32;
}

static uint64_t hash_text(const struct recording *r, uint32_t i)
{
	return hash_bytes(r->texts.data[i], strlen(r->texts.data[i]));
}

static void fill_id(struct recording *r, const struct recorded_frame *f, struct frame_id *ret)
{
	const struct frame_name *n = &f->shown.name;

	memset(ret, 0, sizeof(*ret));
	ret->name = n->name ? recording_add_text(r, n->name) + 1 : 0;
	ret->file = n->file ? recording_add_text(r, n->file) + 1 : 0;
	ret->module = n->module ? recording_add_text(r, n->module) + 1 : 0;
	ret->build_id = f->build_id ? recording_add_text(r, f->build_id) + 1 : 0;
	ret->offset = n->offset;
	ret->vaddr = n->vaddr;
	ret->line = n->line;
	ret->begins = n->begins;
	ret->last_line = f->shown.last_line;
	ret->column = n->column;
	ret->lang = (uint8_t)n->lang;
	ret->inexact = f->shown.inexact;
	ret->inlined = n->caller != NULL;
}

static uint64_t hash_frame(struct recording *r, uint32_t i)
{
	struct frame_id id;

	fill_id(r, &r->frames.data[i], &id);
	return hash_bytes(&id, sizeof(id));
}

static void grow(struct recording *r, struct table *t, size_t n, uint64_t (*hash)(struct recording *, uint32_t))
{
	if (2 * n < t->nslots)
		return;
	free(t->slots);
	t->nslots = t->nslots ? 2 * t->nslots : 1024;
	t->slots = calloc(t->nslots, sizeof(*t->slots));
	if (!t->slots)
		out_of_memory();
	for (uint32_t i = 0; i < n; i++) {
		size_t at = hash(r, i) & (t->nslots - 1);

		while (t->slots[at])
			at = (at + 1) & (t->nslots - 1);
		t->slots[at] = i + 1;
	}
}

static uint64_t hash_old_text(struct recording *r, uint32_t i)
{
	return hash_text(r, i);
}

static uint32_t add_text(struct recording *r, const char *text)
{
	struct table *t = &r->index->texts;
	size_t at;

	grow(r, t, r->texts.len, hash_old_text);
	at = hash_bytes(text, strlen(text)) & (t->nslots - 1);
	for (; t->slots[at]; at = (at + 1) & (t->nslots - 1))
		if (!strcmp(r->texts.data[t->slots[at] - 1], text))
			return t->slots[at] - 1;
	vec_push(&r->texts, arena_strdup(r->arena, text));
	t->slots[at] = (uint32_t)r->texts.len;
	return t->slots[at] - 1;
}

/* Makes texts safe, because keys, functions and files are names in each format. */
uint32_t recording_add_text(struct recording *r, const char *text)
{
	struct str safe = {};
	uint32_t at;

	str_add_safe(&safe, text, strlen(text));
	at = add_text(r, str_text(&safe));
	str_done(&safe);
	return at;
}

/* ---- frames -------------------------------------------------------------- */

static enum frame_kind kind_of(const struct shown_frame *f)
{
	switch (f->name.lang) {
	case FRAME_LANG_KERNEL:
		return FRAME_KIND_KERNEL;
#define L(id, stem, builtin, kind, name)                                                     \
	case FRAME_LANG_##id:                                                                \
		return FRAME_KIND_##id;
#include "bpf/languages.def"
#undef L
	case FRAME_LANG_NATIVE:
	case FRAME_LANG_ADDRESS:
	case FRAME_LANGS:
		break;
	}
	return f->name.caller ? FRAME_KIND_INLINED : FRAME_KIND_NATIVE;
}

static const char *keep(struct recording *r, const char *text)
{
	return text ? recording_text(r, recording_add_text(r, text)) : NULL;
}

static uint32_t push_frame(struct recording *r, const struct recorded_frame *from)
{
	static const struct frame_name inlined;
	struct recorded_frame f = *from;
	struct str text = {};

	f.shown.frame = 0;
	f.shown.name.name = keep(r, f.shown.name.name);
	f.shown.name.file = keep(r, f.shown.name.file);
	f.shown.name.module = keep(r, f.shown.name.module);
	f.shown.name.caller = f.shown.name.caller ? &inlined : NULL;
	f.build_id = keep(r, f.build_id);
	f.kind = kind_of(&f.shown);
	show_function(&f.shown, &text);
	f.function = recording_add_text(r, str_text(&text));
	str_done(&text);
	vec_push(&r->frames, f);
	return (uint32_t)r->frames.len - 1;
}

uint32_t recording_add_frame(struct recording *r, const struct shown_frame *shown, const char *build_id)
{
	struct recorded_frame f = {.shown = *shown, .build_id = build_id};
	struct table *t = &r->index->frames;
	struct frame_id id, other;
	size_t at;

	grow(r, t, r->frames.len, hash_frame);
	fill_id(r, &f, &id);
	at = hash_bytes(&id, sizeof(id)) & (t->nslots - 1);
	for (; t->slots[at]; at = (at + 1) & (t->nslots - 1)) {
		fill_id(r, &r->frames.data[t->slots[at] - 1], &other);
		if (!memcmp(&id, &other, sizeof(id)))
			return t->slots[at] - 1;
	}
	t->slots[at] = (uint32_t)r->frames.len + 1;
	return push_frame(r, &f);
}

/* ---- maps ---------------------------------------------------------------- */

unsigned recording_values(const struct type *t)
{
	if (t->kind == TYPE_INT)
		return 1;
	if (t->kind != TYPE_AGG || t->agg.kind == AGG_TSERIES)
		return 0;
	if (t->agg.kind == AGG_HIST || t->agg.kind == AGG_LHIST)
		return t->agg.buckets;
	return t->agg.kind == AGG_COUNT || t->agg.kind == AGG_SUM ? 1 : 2;
}

static bool is_signed(const struct type *t)
{
	return t->is_signed && !(t->kind == TYPE_AGG && (t->agg.kind == AGG_COUNT || t->agg.kind >= AGG_HIST));
}

bool recording_weight(const struct type *t, const uint64_t *v, uint64_t *ret)
{
	bool is_agg = t->kind == TYPE_AGG;

	*ret = v[0];
	if (is_agg && (t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS))
		*ret = v[1];
	for (uint32_t i = 1; is_agg && t->agg.kind >= AGG_HIST && i < t->agg.buckets; i++)
		*ret += v[i];
	return !is_signed(t) || (int64_t)*ret >= 0;
}

/* Finds the unit by the words of a name, which the script's author chose. */
static const char *unit_of(const char *name)
{
	static const struct {
		const char *word, *unit;
	} rows[] = {
		{"bytes", "bytes"}, {"size", "bytes"}, {"ns", "nanoseconds"}, {"nsecs", "nanoseconds"},
		{"us", "microseconds"}, {"usecs", "microseconds"}, {"ms", "milliseconds"},
		{"msecs", "milliseconds"}, {"secs", "seconds"}, {"cycles", "cycles"},
	};
	const char *last = strrchr(name, '_');

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(last ? last + 1 : name, rows[i].word))
			return rows[i].unit;
	return "count";
}

struct recorded_map *recording_add_map(struct recording *r, const char *name, const struct type *value,
	unsigned ncolumns)
{
	struct recorded_map *m = arena_new_obj(r->arena, struct recorded_map);

	m->name = keep(r, name);
	m->value = *value;
	m->nvalues = recording_values(value);
	if (value->kind == TYPE_INT)
		m->value.integer.names = NULL;
	m->unit = value->kind == TYPE_AGG && (value->agg.kind == AGG_COUNT || value->agg.kind >= AGG_HIST) ?
		"count" : unit_of(name);
	m->div = 1;
	m->ncolumns = ncolumns;
	m->columns = arena_new_array(r->arena, struct recorded_column, ncolumns + 1);
	vec_push(&r->maps, m);
	return m;
}

void recording_make_table(struct recording *r)
{
	struct recorded_map *m = r->maps.data[--r->maps.len];

	m->is_table = true;
	vec_push(&r->tables, m);
}

bool recording_add_entry(struct recording *r, struct recorded_map *m, size_t parts, const uint64_t *values)
{
	struct recorded_entry e = {.parts = parts};
	uint64_t *kept;

	if (!recording_weight(&m->value, values, &e.weight)) {
		m->negative += !m->is_table;
		e.weight = 0;
		if (!m->is_table)
			return false;
	}
	e.weight /= (uint64_t)m->div;
	kept = arena_new_array(r->arena, uint64_t, m->nvalues);
	memcpy(kept, values, m->nvalues * sizeof(*kept));
	e.values = kept;
	m->total += e.weight;
	vec_push(&m->entries, e);
	return true;
}

bool recording_repeats(struct recorded_map *const *maps, size_t n, size_t at)
{
	const struct recorded_map *m = maps[at];

	for (size_t i = at + 1; !m->window && i < n; i++)
		if (!strcmp(maps[i]->name, m->name))
			return true;
	return false;
}

/* ---- hidden frames ------------------------------------------------------- */

void recording_hide(struct recording *r, const struct libraries *l)
{
	bool *hidden = calloc(r->frames.len + 1, sizeof(*hidden));

	if (!hidden)
		out_of_memory();
	for (size_t i = 0; i < r->frames.len; i++)
		hidden[i] = libraries_hide(l, &r->frames.data[i].shown.name);
	for (size_t i = 0; i < r->parts.len; i++) {
		struct recorded_part *p = &r->parts.data[i];
		uint32_t kept = 0;

		for (size_t k = p->first; k < p->first + p->n; k++)
			if (!hidden[r->ids.data[k]])
				r->ids.data[p->first + kept++] = r->ids.data[k];
		p->n = kept;
	}
	free(hidden);
}

/* ---- two recordings ------------------------------------------------------ */

/* Marks the texts of files from which the other recording also has functions. */
static bool *files_in_both(struct recording *r, const struct recording *other)
{
	size_t known = r->texts.len;
	bool *both = calloc(known + 1, sizeof(*both));

	if (!both)
		out_of_memory();
	for (size_t i = 0; i < other->frames.len; i++) {
		const char *file = other->frames.data[i].shown.name.file;
		uint32_t n = file ? recording_add_text(r, file) : NO_TEXT;

		if (n < known)
			both[n] = true;
	}
	return both;
}

static void set_names(struct recording *r, const struct recording *other)
{
	bool *both = files_in_both(r, other);

	r->names = arena_new_array(r->arena, const char *, r->texts.len + 1);
	for (size_t i = 0; i < r->frames.len; i++) {
		const struct recorded_frame *f = &r->frames.data[i];
		const struct frame_name *n = &f->shown.name;

		if (n->name && n->file && !both[recording_add_text(r, n->file)])
			r->names[f->function] = n->name;
	}
	free(both);
}

void recording_pair(struct recording *a, struct recording *b)
{
	set_names(a, b);
	set_names(b, a);
}

const char *recording_name(const struct recording *r, uint32_t text)
{
	return r->names && r->names[text] ? r->names[text] : recording_text(r, text);
}

/* ---- life ---------------------------------------------------------------- */

struct recording *recording_new(void)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		out_of_memory();
	r->arena = arena_new();
	r->index = calloc(1, sizeof(*r->index));
	if (!r->index)
		out_of_memory();
	return r;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->maps.len; i++)
		vec_done(&r->maps.data[i]->entries);
	for (size_t i = 0; i < r->tables.len; i++)
		vec_done(&r->tables.data[i]->entries);
	vec_done(&r->tables);
	vec_done(&r->frames);
	vec_done(&r->texts);
	vec_done(&r->ids);
	vec_done(&r->parts);
	vec_done(&r->maps);
	vec_done(&r->lines);
	free(r->index->texts.slots);
	free(r->index->frames.slots);
	free(r->index);
	arena_free(r->arena);
	free(r);
}
