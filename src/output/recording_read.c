// SPDX-License-Identifier: Apache-2.0
/* recording_read.c - see recording_read.h. Lines are read one after another; only the data to keep stays in memory. */
#include "recording_read.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "bpf/lib/record.h"
#include "bpf/walk/unwind.h"
#include "recorded_line.h"
#include "recording.h"
#include "recording_write.h"

enum {
	LINE_SIZE_MAX = 256 << 20, COLUMNS_MAX = 64, STACK_MAX = 4 * UNWIND_LIMIT_MAX, FRAMES_MAX = 1 << 24,
};

struct reader {
	const struct json *json;
	struct recording *recording;
	struct recorded_map *map; /* the map of the next entries; NULL: none yet */
	struct recorded_map *results; /* the map of a query's result; NULL: none yet */
	const char *path;
	size_t line;
	VEC(uint32_t) frames;     /* number of each frame in the recording */
};

static bool fail(const struct reader *r, const char *what)
{
	log_error("%s:%zu: %s", r->path, r->line, what);
	return false;
}

/* ---- members ------------------------------------------------------------- */

/* Returns a text, safe for a terminal, owned by the recording, or NULL if there is none. */
static const char *text_member(struct reader *r, struct json_object *o, const char *name)
{
	const char *text = json_text(json_member(o, name, json_type_string));
	struct str safe = {};
	const char *kept = NULL;

	if (text) {
		str_add_safe(&safe, text, strlen(text));
		kept = recording_text(r->recording, recording_add_text(r->recording, str_text(&safe)));
	}
	str_done(&safe);
	return kept;
}

/* Accepts a string, too: -f json writes numbers that a double cannot hold as strings. */
static uint64_t number(struct reader *r, struct json_object *o)
{
	const char *text = json_text(o);

	if (text)
		return *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	if (!r->json->is_type(o, json_type_int))
		return 0;
	return r->json->integer(o) < 0 ? (uint64_t)r->json->integer(o) : r->json->natural(o);
}

static uint64_t number_member(struct reader *r, struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	return r->json->get(o, name, &v) ? number(r, v) : 0;
}

static uint32_t small_member(struct reader *r, struct json_object *o, const char *name)
{
	uint64_t n = number_member(r, o, name);

	return n <= INT_MAX ? (uint32_t)n : 0;
}

static bool flag_member(struct reader *r, struct json_object *o, const char *name)
{
	struct json_object *v = json_member(o, name, json_type_boolean);

	return v && r->json->boolean(v);
}

/* ---- frames -------------------------------------------------------------- */

static enum frame_lang lang_of(const char *kind)
{
	static const struct {
		const char *kind;
		enum frame_lang lang;
	} rows[] = {
		{"kernel", FRAME_LANG_KERNEL},
#define L(id, stem, builtin, kind, name) {#stem, FRAME_LANG_##id},
#include "bpf/languages.def"
#undef L
	};

	for (size_t i = 0; kind && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].kind, kind))
			return rows[i].lang;
	return FRAME_LANG_NATIVE;
}

static uint32_t read_frame(struct reader *r, struct json_object *o)
{
	static const struct frame_name caller;
	struct shown_frame f = {.name = {
		.name = text_member(r, o, "function"),
		.file = text_member(r, o, "file"),
		.module = text_member(r, o, "module"),
		.line = small_member(r, o, "line"),
		.begins = small_member(r, o, "begins"),
		.column = small_member(r, o, "column"),
		.offset = number_member(r, o, "offset"),
		.vaddr = number_member(r, o, "address"),
		.lang = lang_of(json_text(json_member(o, "kind", json_type_string))),
		.caller = flag_member(r, o, "inlined") ? &caller : NULL,
	}};

	f.last_line = small_member(r, o, "last_line");
	if (f.last_line < f.name.line)
		f.last_line = f.name.line;
	f.inexact = flag_member(r, o, "inexact");
	return recording_add_frame(r->recording, &f, text_member(r, o, "build_id"));
}

static bool read_frame_line(struct reader *r, struct json_object *o)
{
	if (r->frames.len >= FRAMES_MAX)
		return fail(r, "there are too many frames");
	vec_push(&r->frames, read_frame(r, o));
	return true;
}

/* ---- maps ---------------------------------------------------------------- */

static const struct type *shape_of_hist(struct reader *r, struct json_object *o, enum agg_kind kind)
{
	int64_t min = (int64_t)number_member(r, o, "min"), max = (int64_t)number_member(r, o, "max");
	int64_t step = (int64_t)number_member(r, o, "step");
	uint32_t bits = small_member(r, o, "bits");
	uint64_t range = (uint64_t)max - (uint64_t)min;

	if (kind == AGG_HIST)
		return bits > HIST_BITS_MAX ? NULL : type_hist(r->recording->arena, bits);
	if (step < 1 || min >= max || range / (uint64_t)step > LHIST_BUCKETS_MAX - 2)
		return NULL;
	return type_lhist(r->recording->arena, min, max, step);
}

/* Returns NULL for an unknown kind. */
static const struct type *shape_of(struct reader *r, struct json_object *o)
{
	const char *kind = json_text(json_member(o, "kind", json_type_string));
	bool is_signed = flag_member(r, o, "signed");

	if (!kind)
		return NULL;
	if (!strcmp(kind, "number"))
		return is_signed ? type_int64 : type_uint64;
	for (int i = 0; recording_kinds[i]; i++)
		if (!strcmp(recording_kinds[i], kind))
			return i >= AGG_HIST ? shape_of_hist(r, o, (enum agg_kind)i) :
				type_agg(r->recording->arena, (enum agg_kind)i, is_signed);
	return NULL;
}

static bool read_column(struct reader *r, struct json_object *o, struct recorded_column *c)
{
	const char *mode = json_text(json_member(o, "mode", json_type_string));

	c->label = text_member(r, o, "label");
	if (!c->label)
		c->label = "key";
	c->is_stack = mode;
	c->is_kernel = mode && flag_member(r, o, "kernel");
	return !mode || stack_mode_by_name(mode, &c->mode);
}

/* The line before is the map as text. */
static void make_table(struct reader *r)
{
	struct recorded_line *last = r->recording->lines.len ? &r->recording->lines.data[r->recording->lines.len - 1] :
		NULL;

	recording_make_table(r->recording);
	r->map->has_line = last && last->is_map && !last->has_table;
	if (r->map->has_line)
		last->has_table = true;
}

static bool read_profile_line(struct reader *r, struct json_object *o, bool is_table)
{
	struct json_object *key = json_member(o, "key", json_type_array);
	const struct type *t = shape_of(r, json_member(o, "value", json_type_object));
	const char *name = text_member(r, o, "name"), *unit = text_member(r, o, "unit");
	size_t n = key ? r->json->length(key) : 0;
	int64_t div = (int64_t)number_member(r, o, "divided_by");

	if (!t || !recording_values(t))
		return fail(r, "a profile's value is of no kind that there is");
	if ((!n && !is_table) || n > COLUMNS_MAX)
		return fail(r, "a profile's key has no parts, or too many");
	r->map = recording_add_map(r->recording, name ? name : "", t, (unsigned)n);
	if (is_table)
		make_table(r);
	r->map->unit = unit ? unit : r->map->unit;
	r->map->div = div > 1 ? div : 1;
	r->map->ns = number_member(r, o, "time");
	r->map->begun = number_member(r, o, "begun");
	r->map->window = flag_member(r, o, "window");
	for (size_t i = 0; i < n; i++)
		if (!read_column(r, r->json->at(key, i), &r->map->columns[i]))
			return fail(r, "a stack's mode is none that there is");
	return true;
}

/* ---- entries ------------------------------------------------------------- */

/* Reads numbers of frames, or, in -f json, the frames themselves. */
static bool read_stack(struct reader *r, struct json_object *o, struct recorded_part *part)
{
	struct json_object *frames = json_member(o, "frames", json_type_array);
	const char *end = text_member(r, o, "end");
	size_t n = frames ? r->json->length(frames) : 0;

	if (!frames || n > STACK_MAX)
		return fail(r, "a stack has no frames, or too many");
	part->is_stack = true;
	part->text = end ? recording_add_text(r->recording, end) : NO_TEXT;
	part->first = r->recording->ids.len;
	part->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct json_object *f = r->json->at(frames, i);
		uint64_t at = number(r, f);
		uint32_t id;

		if (!r->json->is_type(f, json_type_object) && at >= r->frames.len)
			return fail(r, "a stack has a frame that was not defined before");
		id = r->json->is_type(f, json_type_object) ? read_frame(r, f) : r->frames.data[at];
		vec_push(&r->recording->ids, id);
	}
	return true;
}

static bool read_part(struct reader *r, struct json_object *o, bool is_stack)
{
	struct recorded_part part = {.text = NO_TEXT};
	struct str safe = {};
	const char *text;

	if (is_stack && !read_stack(r, o, &part))
		return false;
	if (!is_stack) {
		text = r->json->string(o); /* for a number its digits */
		str_add_safe(&safe, text ? text : "", text ? strlen(text) : 0);
		part.text = recording_add_text(r->recording, str_text(&safe));
		part.is_number = r->json->is_type(o, json_type_int);
		part.number = part.is_number ? r->json->integer(o) : 0;
		str_done(&safe);
	}
	vec_push(&r->recording->parts, part);
	return true;
}

static bool add_entry(struct reader *r, size_t parts, const uint64_t *values)
{
	uint64_t sum = r->map->total;

	if (!recording_add_entry(r->recording, r->map, parts, values))
		return true;
	return r->map->total >= sum || fail(r, "the sum of all values is more than 64 bits");
}

static bool read_entry_line(struct reader *r, struct json_object *o)
{
	struct json_object *key = json_member(o, "key", json_type_array);
	struct json_object *value = json_member(o, "value", json_type_array);
	_cleanup_(freep) uint64_t *values = NULL;
	size_t parts = r->recording->parts.len;

	if (!r->map)
		return fail(r, "an entry stands before the first profile");
	if (!key || r->json->length(key) != r->map->ncolumns || !value || r->json->length(value) != r->map->nvalues)
		return fail(r, "an entry has other parts than its profile");
	for (unsigned i = 0; i < r->map->ncolumns; i++)
		if (!read_part(r, r->json->at(key, i), r->map->columns[i].is_stack))
			return false;
	values = calloc(r->map->nvalues, sizeof(*values));
	for (unsigned i = 0; values && i < r->map->nvalues; i++)
		values[i] = number(r, r->json->at(value, i));
	return values ? add_entry(r, parts, values) : fail(r, why_errno(-ENOMEM));
}

/* ---- a query's result ---------------------------------------------------- */

/* Of {"host": "a", "stack": ["leaf", "main"], "value": 3} all other members are parts of the key. */
static struct recorded_map *begin_results(struct reader *r, struct json_object *o)
{
	const struct lh_table *members = r->json->object(o);
	const struct type *t = type_agg(r->recording->arena, AGG_SUM, false);
	struct recorded_map *m;
	unsigned at = 0;

	if (!members || members->count - 1 > COLUMNS_MAX)
		return NULL;
	m = recording_add_map(r->recording, "", t, (unsigned)members->count - 1);
	m->unit = "count";
	for (const struct lh_entry *e = members->head; e; e = e->next) {
		uint32_t label = recording_add_text(r->recording, e->k);
		bool is_stack = !strcmp(e->k, "stack");

		if (strcmp(e->k, "value") != 0)
			m->columns[at++] = (struct recorded_column){.label = recording_text(r->recording, label),
				.is_stack = is_stack, .mode = STACK_FUNC};
	}
	return m;
}

static bool read_names(struct reader *r, struct json_object *names)
{
	struct recorded_part part = {.is_stack = true, .text = NO_TEXT, .first = r->recording->ids.len};
	size_t n = r->json->length(names);

	if (n > STACK_MAX)
		return fail(r, "a stack has too many frames");
	for (size_t i = 0; i < n; i++) {
		struct shown_frame f = {.inexact = true}; /* the address is not known */
		uint32_t id;

		f.name.name = json_text(r->json->at(names, i));
		f.name.lang = FRAME_LANG_NATIVE;
		if (!f.name.name)
			return fail(r, "a frame of a stack is not a text");
		id = recording_add_frame(r->recording, &f, NULL);
		vec_push(&r->recording->ids, id);
	}
	part.n = (uint32_t)n;
	vec_push(&r->recording->parts, part);
	return true;
}

static bool read_result(struct reader *r, struct json_object *o, struct json_object *stack)
{
	struct json_object *value = NULL, *part;
	size_t parts = r->recording->parts.len;
	uint64_t v;

	r->json->get(o, "value", &value);
	if (!value || (!json_text(value) && !r->json->is_type(value, json_type_int)))
		return fail(r, "a row with a stack needs a whole number as its value");
	r->results = r->results ? r->results : begin_results(r, o);
	r->map = r->results;
	if (!r->map || r->json->object(o)->count != (int)r->map->ncolumns + 1)
		return fail(r, "a row has other members than the first");
	for (unsigned i = 0; i < r->map->ncolumns; i++) {
		const struct recorded_column *c = &r->map->columns[i];

		if (c->is_stack ? !read_names(r, stack) : !r->json->get(o, c->label, &part))
			return c->is_stack ? false : fail(r, "a row has other members than the first");
		if (!c->is_stack && !read_part(r, part, false))
			return false;
	}
	v = number(r, value);
	if ((int64_t)v < 0) {
		r->map->negative++;
		return true;
	}
	return add_entry(r, parts, &v);
}

/* ---- lines of -f json ---------------------------------------------------- */

static bool is_stack(struct json_object *o)
{
	return json_member(o, "frames", json_type_array);
}

static size_t key_parts(struct reader *r, struct json_object *key)
{
	return r->json->is_type(key, json_type_array) ? r->json->length(key) : 1;
}

static struct json_object *part_of_key(struct reader *r, struct json_object *key, size_t i)
{
	return r->json->is_type(key, json_type_array) ? r->json->at(key, i) : key;
}

/* All entries have the shape of the first. */
static void begin_map(struct reader *r, const char *name, struct json_object *key)
{
	size_t n = key_parts(r, key);

	r->map = recording_add_map(r->recording, *name == '@' ? name + 1 : name, type_uint64, (unsigned)n);
	for (size_t i = 0; i < n; i++) {
		struct json_object *part = part_of_key(r, key, i);
		struct json_object *frames = json_member(part, "frames", json_type_array);
		struct json_object *first = frames && r->json->length(frames) ? r->json->at(frames, 0) : NULL;
		const char *kind = first ? json_text(json_member(first, "kind", json_type_string)) : NULL;

		r->map->columns[i] = (struct recorded_column){.label = frames ? "stack" : "key", .is_stack = frames,
			.is_kernel = kind && !strcmp(kind, "kernel"), .mode = STACK_FUNC};
	}
}

static bool read_json_entry(struct reader *r, struct json_object *entry)
{
	struct json_object *key = NULL, *value = NULL;
	size_t parts = r->recording->parts.len;
	uint64_t v;

	if (!r->json->is_type(entry, json_type_object) || !r->json->get(entry, "key", &key) ||
		!r->json->get(entry, "value", &value) || key_parts(r, key) != r->map->ncolumns)
		return fail(r, "an entry has other parts than the first");
	for (unsigned i = 0; i < r->map->ncolumns; i++)
		if (is_stack(part_of_key(r, key, i)) != r->map->columns[i].is_stack ||
			!read_part(r, part_of_key(r, key, i), r->map->columns[i].is_stack))
			return fail(r, "an entry has other parts than the first");
	v = number(r, value);
	if ((int64_t)v < 0) {
		r->map->negative++;
		return true;
	}
	return add_entry(r, parts, &v);
}

/* Returns whether the first entry's key of a map has a stack. */
static bool has_stacks(struct reader *r, struct json_object *entries)
{
	struct json_object *first = r->json->length(entries) ? r->json->at(entries, 0) : NULL, *key = NULL;
	bool any = false;

	if (!r->json->is_type(first, json_type_object) || !r->json->get(first, "key", &key))
		return false;
	for (size_t i = 0; i < key_parts(r, key) && i < COLUMNS_MAX; i++)
		any |= is_stack(part_of_key(r, key, i));
	return any && key_parts(r, key) <= COLUMNS_MAX;
}

/* {"type": "map", "data": {"@name": ..}, "entries": [..]} is a profile. */
static bool read_map_line(struct reader *r, struct json_object *o, struct json_object *entries)
{
	struct json_object *data = json_member(o, "data", json_type_object), *key = NULL;
	struct str name = {};

	r->json->get(r->json->at(entries, 0), "key", &key);
	if (data && json_first_name(data))
		str_add_safe(&name, json_first_name(data), strlen(json_first_name(data)));
	begin_map(r, str_text(&name), key);
	str_done(&name);
	for (size_t i = 0; i < r->json->length(entries); i++)
		if (!read_json_entry(r, r->json->at(entries, i)))
			return false;
	return true;
}

/* ---- the script's other output ------------------------------------------- */

/* Returns what a line reports that makes the answer incomplete, or NULL. */
static const char *problem_of(struct reader *r, struct json_object *o, const char *type)
{
	static const char *const types[] = {"lost", "lost_events", "helper_error", "runtime_error", "warnf", "errorf"};
	const char *what = json_text(json_member(o, "msg", json_type_string)), *text;
	struct str safe = {};
	size_t i = 0;

	while (i < ARRAY_SIZE(types) && strcmp(type, types[i]) != 0)
		i++;
	if (i == ARRAY_SIZE(types))
		return NULL;
	str_add_safe(&safe, what ? what : type, strcspn(what ? what : type, "\n"));
	if (json_member(o, "count", json_type_int))
		str_addf(&safe, " (%" PRIu64 ")", number_member(r, o, "count"));
	text = arena_strdup(r->recording->arena, str_text(&safe));
	str_done(&safe);
	return text;
}

/* Text is printed unchanged, values and maps without stacks as text, other lines unchanged. */
static void keep_line(struct reader *r, struct json_object *o, const char *line)
{
	const char *type = json_text(json_member(o, "type", json_type_string));
	const char *data = strcmp(type, "value") ? json_text(json_member(o, "data", json_type_string)) : NULL;
	struct recorded_line kept = {.maps = r->recording->maps.len};
	struct str safe = {};

	for (const char *p = data; p && *p;) {
		size_t n = strcspn(p, "\n\t");

		str_add_safe(&safe, p, n);
		p += n;
		if (*p)
			str_addc(&safe, *p++);
	}
	kept.is_map = !data && recorded_line_text(r->json, o, &safe);
	if (!data && !kept.is_map) {
		str_add_safe(&safe, line, strcspn(line, "\n"));
		str_addc(&safe, '\n');
	}
	kept.is_map &= strcmp(type, "value") != 0 && strcmp(type, "thread") != 0;
	kept.problem = problem_of(r, o, type);
	kept.text = arena_strdup(r->recording->arena, str_text(&safe));
	vec_push(&r->recording->lines, kept);
	str_done(&safe);
}

static bool read_object(struct reader *r, struct json_object *o, const char *line)
{
	const char *type = json_text(json_member(o, "type", json_type_string));
	struct json_object *entries = json_member(o, "entries", json_type_array);
	struct json_object *stack = json_member(o, "stack", json_type_array);

	if (!type && stack)
		return read_result(r, o, stack);
	if (!type)
		return json_member(o, "key", json_type_array) ? read_entry_line(r, o) :
			fail(r, "this is no line of a recording");
	if (!strcmp(type, "frame"))
		return read_frame_line(r, o);
	if (!strcmp(type, "profile"))
		return read_profile_line(r, o, false);
	if (!strcmp(type, "table"))
		return read_profile_line(r, o, true);
	if (!strcmp(type, "about")) {
		r->recording->about = text_member(r, o, "text");
		return true;
	}
	if (!strcmp(type, "recording")) {
		if (number_member(r, o, "version") != 1)
			return fail(r, "the recording was made by a newer strata");
		r->recording->version = text_member(r, o, "strata");
		r->recording->host = text_member(r, o, "host");
		r->recording->kernel = text_member(r, o, "kernel");
		return true;
	}
	if (entries && has_stacks(r, entries))
		return read_map_line(r, o, entries);
	if (strcmp(type, "attached_probes") != 0)
		keep_line(r, o, line);
	return true;
}

/* ---- the file ------------------------------------------------------------ */

static bool read_line(struct reader *r, struct json_tokener *t, const char *line, size_t n)
{
	struct json_object *o;
	bool ok;

	if (!line[strspn(line, " \t\r\n")])
		return true;
	r->json->tokener_reset(t);
	o = r->json->parse(t, line, (int)n);
	ok = o && r->json->is_type(o, json_type_object) ? read_object(r, o, line) :
		fail(r, "this is no line of a recording");
	if (o)
		r->json->put(o);
	return ok;
}

/* Returns the next line with its end, or "" at the end of the file. A line above the limit is cut. */
static const char *next_line(FILE *file, struct str *line)
{
	char piece[4096];

	str_clear(line);
	while (line->len <= LINE_SIZE_MAX && fgets(piece, sizeof(piece), file)) {
		str_add(line, piece);
		if (strchr(piece, '\n'))
			break;
	}
	return str_text(line);
}

static bool read_lines(struct reader *r, FILE *file)
{
	struct json_tokener *t = r->json->tokener_new();
	struct str line = {};
	bool ok = t;

	while (ok && *next_line(file, &line)) {
		r->line++;
		ok = line.len <= LINE_SIZE_MAX ? read_line(r, t, line.data, line.len) : fail(r, "the line is too long");
	}
	str_done(&line);
	if (ok && ferror(file)) {
		log_error("%s: cannot be read: %s", r->path, errno == EBADMSG ? "the compressed data are damaged" :
			why_errno(-errno));
		ok = false;
	}
	if (ok && !r->line)
		ok = fail(r, "the file is empty");
	if (t)
		r->json->tokener_free(t);
	return ok;
}

struct recording *recording_read(FILE *file, const char *path)
{
	struct reader r = {.path = path, .json = json_open()};

	if (!r.json) {
		log_error("%s: cannot be read: the library libjson-c.so.5 is not there", path);
		return NULL;
	}
	r.recording = recording_new();
	if (!read_lines(&r, file)) {
		recording_free(r.recording);
		r.recording = NULL;
	}
	vec_done(&r.frames);
	return r.recording;
}
