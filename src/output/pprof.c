// SPDX-License-Identifier: Apache-2.0
/* pprof.c - -f pprof: pprof's file format, gzipped protobuf (profile.proto): a sample type for each map. A
 * location is a frame of the stack: functions in their files and lines (several if the compiler inlined them), and, in
 * native code, its address in the file, which is the mapping with the file's build id.
 *
 * Functions have the names of the other formats, "handler app.py", because pprof adds up only by name.
 * system_name is the bare name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "collect.h"
#include "pack.h"
#include "profile.pb-c.h"
#include "recording.h"

typedef Perftools__Profiles__Function PprofFunction;
typedef Perftools__Profiles__Label PprofLabel;
typedef Perftools__Profiles__Line PprofLine;
typedef Perftools__Profiles__Location PprofLocation;
typedef Perftools__Profiles__Mapping PprofMapping;
typedef Perftools__Profiles__Profile PprofProfile;
typedef Perftools__Profiles__Sample PprofSample;
typedef Perftools__Profiles__ValueType PprofValueType;

struct writer {
	const struct picture *picture;
	const struct recording *recording;
	struct arena *arena;
	PprofProfile profile;
	VEC(char *) strings;          /* the recording's texts begin at 1 */
	VEC(PprofMapping *) mappings;
	VEC(PprofLocation *) locations;
	VEC(PprofFunction *) functions;
	VEC(PprofSample *) samples;
	uint64_t *of_text, *of_frame; /* ids of locations; 0: none yet. of_frame: by the innermost function */
	PprofLine **lines;            /* by frame; NULL: none yet */
};

#define NEW(w, type, init) ({                                                                \
	type *new_ = arena_new_obj((w)->arena, type);                                        \
	init(new_);                                                                          \
	new_;                                                                                \
})

/* ---- strings ------------------------------------------------------------- */

static void add_string(struct writer *w, const char *text)
{
	struct str safe = {};
	const char *kept = text;

	str_add_safe(&safe, text, strlen(text)); /* protobuf's strings are UTF-8 */
	if (strcmp(str_text(&safe), text) != 0)
		kept = arena_strdup(w->arena, str_text(&safe));
	vec_push(&w->strings, (char *)kept);
	str_done(&safe);
}

static int64_t string_of(struct writer *w, const char *text)
{
	if (!text || !*text)
		return 0;
	for (size_t i = w->recording->texts.len + 1; i < w->strings.len; i++)
		if (!strcmp(w->strings.data[i], text))
			return (int64_t)i;
	add_string(w, text);
	return (int64_t)w->strings.len - 1;
}

/* The recording's own texts are found by their number. */
static int64_t text_of(uint32_t text)
{
	return (int64_t)text + 1;
}

/* ---- locations ----------------------------------------------------------- */

static PprofMapping *mapping_of(struct writer *w, const struct recorded_frame *f)
{
	int64_t name = string_of(w, f->kind == FRAME_KIND_KERNEL && f->shown.name.module &&
		!strcmp(f->shown.name.module, "kernel") ? "[kernel.kallsyms]" : f->shown.name.module);
	int64_t build_id = string_of(w, f->build_id);
	PprofMapping *m;

	for (size_t i = 0; i < w->mappings.len; i++)
		if (w->mappings.data[i]->filename == name && w->mappings.data[i]->build_id == build_id)
			return w->mappings.data[i];
	m = NEW(w, PprofMapping, perftools__profiles__mapping__init);
	m->id = w->mappings.len + 1;
	m->filename = name;
	m->build_id = build_id;
	m->has_functions = m->has_filenames = m->has_line_numbers = m->has_inline_frames = true;
	vec_push(&w->mappings, m);
	return m;
}

static PprofLine *new_line(struct writer *w, int64_t name, uint32_t line)
{
	PprofFunction *f = NEW(w, PprofFunction, perftools__profiles__function__init);
	PprofLine *l = NEW(w, PprofLine, perftools__profiles__line__init);

	f->id = w->functions.len + 1;
	f->name = name;
	vec_push(&w->functions, f);
	l->function_id = f->id;
	l->line = line;
	return l;
}

/* Makes a location of n functions, whose lines the caller sets. */
static PprofLocation *new_location(struct writer *w, size_t n)
{
	PprofLocation *l = NEW(w, PprofLocation, perftools__profiles__location__init);

	l->id = w->locations.len + 1;
	l->n_line = n;
	l->line = arena_new_array(w->arena, PprofLine *, n);
	vec_push(&w->locations, l);
	return l;
}

static PprofLine *line_of_frame(struct writer *w, uint32_t id)
{
	const struct recorded_frame *f = &w->recording->frames.data[id];
	const struct frame_name *n = &f->shown.name;
	PprofFunction *function;

	if (w->lines[id])
		return w->lines[id];
	w->lines[id] = new_line(w, text_of(f->function), n->line);
	w->lines[id]->column = n->column;
	function = w->functions.data[w->functions.len - 1];
	function->filename = string_of(w, n->file);
	if (n->name && strcmp(n->name, recording_text(w->recording, f->function)) != 0)
		function->system_name = string_of(w, n->name);
	return w->lines[id];
}

/* The n frames are one address: functions that were inlined, and the function that has the code. The address of an
 * inexact frame is unknown. */
static uint64_t location_of_frames(struct writer *w, const uint32_t *ids, size_t n)
{
	const struct recorded_frame *f = &w->recording->frames.data[*ids];
	PprofLocation *l;

	if (w->of_frame[*ids])
		return w->of_frame[*ids];
	l = new_location(w, n);
	for (size_t i = 0; i < n; i++)
		l->line[i] = line_of_frame(w, ids[i]);
	if (f->shown.name.module) {
		PprofMapping *m = mapping_of(w, f);

		l->mapping_id = m->id;
		l->address = f->shown.inexact ? 0 : f->shown.name.vaddr;
		if (l->address >= m->memory_limit)
			m->memory_limit = l->address + 1;
	}
	w->of_frame[*ids] = l->id;
	return l->id;
}

static uint64_t location_of_text(struct writer *w, uint32_t text)
{
	PprofLocation *l;

	if (w->of_text[text])
		return w->of_text[text];
	l = new_location(w, 1);
	l->line[0] = new_line(w, text_of(text), 0);
	w->of_text[text] = l->id;
	return l->id;
}

/* ---- samples ------------------------------------------------------------- */

static bool is_inlined(const struct writer *w, uint32_t id)
{
	return w->recording->frames.data[id].shown.name.caller;
}

static size_t add_stack(struct writer *w, const struct recorded_part *part, uint64_t *to)
{
	const uint32_t *ids = w->recording->ids.data + part->first;
	size_t n = 0, end;

	for (size_t i = 0; i < part->n; i = end) {
		for (end = i + 1; end < part->n && is_inlined(w, ids[end - 1]);)
			end++;
		to[n++] = location_of_frames(w, ids + i, end - i);
	}
	if (part->text != NO_TEXT)
		to[n++] = location_of_text(w, part->text);
	return n;
}

static void add_locations(struct writer *w, const struct recorded_map *m, const struct recorded_part *parts,
	PprofSample *s)
{
	size_t most = 0;

	for (unsigned i = 0; i < m->ncolumns; i++)
		most += 1 + (m->columns[i].is_stack ? parts[i].n : 0);
	s->location_id = arena_new_array(w->arena, uint64_t, most);
	for (int kernel = 1; kernel >= 0; kernel--)
		for (unsigned i = m->ncolumns; i-- > 0;)
			if (m->columns[i].is_stack && m->columns[i].is_kernel == kernel)
				s->n_location_id += add_stack(w, &parts[i], s->location_id + s->n_location_id);
	for (unsigned i = m->ncolumns; w->picture->frames && i-- > 0;)
		if (!m->columns[i].is_stack)
			s->location_id[s->n_location_id++] = location_of_text(w, parts[i].text);
}

static void add_labels(struct writer *w, const struct recorded_map *m, const struct recorded_part *parts,
	PprofSample *s)
{
	s->label = arena_new_array(w->arena, PprofLabel *, m->ncolumns);
	for (unsigned i = 0; i < m->ncolumns; i++) {
		PprofLabel *l;

		if (m->columns[i].is_stack)
			continue;
		l = NEW(w, PprofLabel, perftools__profiles__label__init);
		l->key = string_of(w, m->columns[i].label);
		l->str = parts[i].is_number && parts[i].number ? 0 : text_of(parts[i].text);
		l->num = parts[i].is_number ? parts[i].number : 0;
		s->label[s->n_label++] = l;
	}
}

static void add_samples(struct writer *w, size_t map)
{
	const struct recorded_map *m = w->recording->maps.data[map];

	for (size_t i = 0; i < m->entries.len; i++) {
		const struct recorded_part *parts = w->recording->parts.data + m->entries.data[i].parts;
		PprofSample *s = NEW(w, PprofSample, perftools__profiles__sample__init);

		add_locations(w, m, parts, s);
		add_labels(w, m, parts, s);
		s->n_value = w->recording->maps.len;
		s->value = arena_new_array(w->arena, int64_t, s->n_value);
		s->value[map] = (int64_t)m->entries.data[i].weight;
		vec_push(&w->samples, s);
	}
}

/* A map that was printed several times counts as several maps. */
static void add_type(struct writer *w, size_t map)
{
	const struct recorded_map *m = w->recording->maps.data[map];
	const char *name = *m->name ? m->name : !strcmp(m->unit, "count") ? "samples" : "values";
	PprofValueType *t = NEW(w, PprofValueType, perftools__profiles__value_type__init);
	unsigned before = 0;

	for (size_t i = 0; i < map; i++)
		before += !strcmp(w->recording->maps.data[i]->name, m->name);
	t->type = string_of(w, before ? arena_printf(w->arena, "%s %u", name, before + 1) : name);
	t->unit = string_of(w, m->unit);
	w->profile.sample_type[map] = t;
	if (!map) {
		w->profile.default_sample_type = t->type;
		w->profile.time_nanos = (int64_t)m->ns;
	}
}

/* ---- the file ------------------------------------------------------------ */

static int write_packed(const PprofProfile *p, FILE *file)
{
	size_t size = perftools__profiles__profile__get_packed_size(p);
	_cleanup_(freep) uint8_t *data = malloc(size + 1);
	FILE *packed = pack_write(PACK_GZIP, file);

	if (!packed || !data) {
		if (packed)
			fclose(packed);
		return -ENOMEM;
	}
	perftools__profiles__profile__pack(p, data);
	fwrite(data, 1, size, packed);
	return fclose(packed) ? -EIO : 0;
}

static bool is_program(const struct writer *w, const PprofMapping *m)
{
	const char *name = w->strings.data[m->filename];

	return *name == '/' && !strstr(name, ".so");
}

/* Returns the weight of the program that has the outermost frame, or NULL if there is none. */
static uint64_t *weight_of(const struct writer *w, const PprofSample *s, uint64_t *weights)
{
	for (size_t i = s->n_location_id; i-- > 0;) {
		uint64_t id = w->locations.data[s->location_id[i] - 1]->mapping_id;

		if (id && is_program(w, w->mappings.data[id - 1]))
			return &weights[id - 1];
	}
	return NULL;
}

/* pprof takes the first mapping for the program, so the mapping with most of the first map goes there. Until
 * then, ids are positions in the list. */
static void put_program_first(struct writer *w)
{
	uint64_t *weights = arena_new_array(w->arena, uint64_t, w->mappings.len + 1);
	PprofMapping *first = w->mappings.len ? w->mappings.data[0] : NULL;
	size_t most = 0;

	for (size_t i = 0; i < w->samples.len; i++) {
		uint64_t *weight = weight_of(w, w->samples.data[i], weights);

		if (weight)
			*weight += 1 + (uint64_t)w->samples.data[i]->value[0];
	}
	for (size_t i = 1; i < w->mappings.len; i++)
		most = weights[i] > weights[most] ? i : most;
	if (first) {
		w->mappings.data[0] = w->mappings.data[most];
		w->mappings.data[most] = first;
	}
}

static void fill(struct writer *w)
{
	const struct recording *r = w->recording;

	vec_push(&w->strings, (char *)"");
	for (size_t i = 0; i < r->texts.len; i++)
		add_string(w, r->texts.data[i]);
	w->profile.n_sample_type = r->maps.len;
	w->profile.sample_type = arena_new_array(w->arena, PprofValueType *, r->maps.len);
	for (size_t i = 0; i < r->maps.len; i++) {
		add_type(w, i);
		add_samples(w, i);
	}
	put_program_first(w);
#define LIST(field, from) (w->profile.n_##field = w->from.len, w->profile.field = w->from.data)
	LIST(string_table, strings);
	LIST(mapping, mappings);
	LIST(location, locations);
	LIST(function, functions);
	LIST(sample, samples);
#undef LIST
}

static int render(const struct picture *p, FILE *file)
{
	const struct recording *r = p->recording;
	struct writer w = {.picture = p, .recording = r, .arena = arena_new(),
		.profile = PERFTOOLS__PROFILES__PROFILE__INIT};
	int result;

	w.of_text = arena_new_array(w.arena, uint64_t, r->texts.len + 1);
	w.of_frame = arena_new_array(w.arena, uint64_t, r->frames.len + 1);
	w.lines = arena_new_array(w.arena, PprofLine *, r->frames.len + 1);
	fill(&w);
	result = write_packed(&w.profile, file);
	vec_done(&w.strings);
	vec_done(&w.mappings);
	vec_done(&w.locations);
	vec_done(&w.functions);
	vec_done(&w.samples);
	arena_free(w.arena);
	return result;
}

const struct output output_pprof = {
	.name = "pprof",
	.help = "the maps keyed by stacks, for pprof: gzipped protobuf",
	.endings = "pb.gz pprof",
	.exact = true,
	COLLECTS,
	.render = render,
};
