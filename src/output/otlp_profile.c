// SPDX-License-Identifier: Apache-2.0
/* otlp_profile.c - maps keyed by stacks as OTLP profiles: a profile for each map, with the dictionary that they share.
 * An element of a table of the dictionary is its JSON text, kept once; the first of each table is empty, as the
 * protocol demands.
 *
 * A frame is a location: its functions with their lines (several if the compiler inlined them), and in native code its
 * address in the file, which is a mapping. Functions have the names of the other formats; system_name is the bare
 * name. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "otlp.h"
#include "output.h"
#include "recording.h"

/* A recording keeps equal texts once: each table uses the texts of one. */
enum table { STRINGS, ATTRIBUTES, FUNCTIONS, MAPPINGS, LOCATIONS, STACKS, TABLES };

struct writer {
	const struct picture *picture;
	const struct recording *recording;
	struct recording *tables[TABLES];
	struct str *out;
};

/* Returns the index of an element, and frees its text. */
static uint32_t element(struct writer *w, enum table table, struct str *text)
{
	uint32_t i = recording_add_text(w->tables[table], str_text(text));

	str_done(text);
	return i;
}

static uint32_t string_of(struct writer *w, const char *text)
{
	return recording_add_text(w->tables[STRINGS], text ? text : "");
}

static uint32_t attribute_of(struct writer *w, const char *key, bool is_number, int64_t number, const char *value)
{
	struct str text = {};

	str_addf(&text, "{\"keyStrindex\": %u, \"value\": {", string_of(w, key));
	if (is_number) {
		str_addf(&text, "\"intValue\": \"%" PRId64 "\"}}", number);
	} else {
		str_add(&text, "\"stringValue\": ");
		str_add_json(&text, value, strlen(value));
		str_add(&text, "}}");
	}
	return element(w, ATTRIBUTES, &text);
}

/* ---- locations ---------------------------------------------------------- */

/* The values of profile.frame.type in OpenTelemetry's semantic conventions (v1.44.0, model/profile/registry.yaml). */
static const char *frame_type(const struct recorded_frame *f)
{
	static const char *const types[FRAME_KINDS] = {
		[FRAME_KIND_NATIVE] = "native", [FRAME_KIND_INLINED] = "native", [FRAME_KIND_KERNEL] = "kernel",
		[FRAME_KIND_PYTHON] = "cpython", [FRAME_KIND_GO] = "go", [FRAME_KIND_JS] = "v8js",
		[FRAME_KIND_PHP] = "php", [FRAME_KIND_JAVA] = "jvm",
	};

	return types[f->kind];
}

static uint32_t mapping_of(struct writer *w, const struct recorded_frame *f)
{
	const char *module = f->shown.name.module;
	struct str text = {};

	if (!module)
		return 0;
	if (f->kind == FRAME_KIND_KERNEL && !strcmp(module, "kernel"))
		module = "[kernel.kallsyms]";
	str_addf(&text, "{\"filenameStrindex\": %u", string_of(w, module));
	if (f->build_id)
		str_addf(&text, ", \"attributeIndices\": [%u]",
			attribute_of(w, "process.executable.build_id.gnu", false, 0, f->build_id));
	str_addc(&text, '}');
	return element(w, MAPPINGS, &text);
}

static void add_line(struct writer *w, const struct recorded_frame *f, struct str *out)
{
	const struct frame_name *n = &f->shown.name;
	const char *name = recording_text(w->recording, f->function);
	struct str text = {};

	str_addf(&text, "{\"nameStrindex\": %u", string_of(w, name));
	if (n->name && strcmp(n->name, name) != 0)
		str_addf(&text, ", \"systemNameStrindex\": %u", string_of(w, n->name));
	if (n->file)
		str_addf(&text, ", \"filenameStrindex\": %u", string_of(w, n->file));
	str_addc(&text, '}');
	str_addf(out, "{\"functionIndex\": %u", element(w, FUNCTIONS, &text));
	if (n->line)
		str_addf(out, ", \"line\": \"%u\"", n->line);
	if (n->column)
		str_addf(out, ", \"column\": \"%u\"", n->column);
	str_addc(out, '}');
}

/* The n frames are one address: functions that were inlined, and the function that has the code. */
static uint32_t location_of_frames(struct writer *w, const uint32_t *ids, size_t n)
{
	const struct recorded_frame *frames = w->recording->frames.data, *f = &frames[*ids];
	uint32_t mapping = mapping_of(w, f);
	const char *type = frame_type(f);
	struct str text = {};

	str_add(&text, "{\"lines\": [");
	for (size_t i = 0; i < n; i++) {
		str_add(&text, i ? ", " : "");
		add_line(w, &frames[ids[i]], &text);
	}
	str_addc(&text, ']');
	if (mapping)
		str_addf(&text, ", \"mappingIndex\": %u", mapping);
	if (mapping && !f->shown.inexact)
		str_addf(&text, ", \"address\": \"%" PRIu64 "\"", f->shown.name.vaddr);
	if (type)
		str_addf(&text, ", \"attributeIndices\": [%u]", attribute_of(w, "profile.frame.type", false, 0, type));
	str_addc(&text, '}');
	return element(w, LOCATIONS, &text);
}

static uint32_t location_of_text(struct writer *w, uint32_t recorded)
{
	struct str function = {}, text = {};

	str_addf(&function, "{\"nameStrindex\": %u}", string_of(w, recording_text(w->recording, recorded)));
	str_addf(&text, "{\"lines\": [{\"functionIndex\": %u}]}", element(w, FUNCTIONS, &function));
	return element(w, LOCATIONS, &text);
}

/* ---- samples ------------------------------------------------------------- */

static void add_location(struct str *stack, uint32_t location)
{
	str_addf(stack, "%s%u", stack->len ? ", " : "", location);
}

static void add_stack(struct writer *w, const struct recorded_part *part, struct str *stack)
{
	const uint32_t *ids = w->recording->ids.data + part->first;
	size_t end;

	for (size_t i = 0; i < part->n; i = end) {
		for (end = i + 1; end < part->n && w->recording->frames.data[ids[end - 1]].shown.name.caller;)
			end++;
		add_location(stack, location_of_frames(w, ids + i, end - i));
	}
	if (part->text != NO_TEXT)
		add_location(stack, location_of_text(w, part->text));
}

static uint32_t stack_of(struct writer *w, const struct recorded_map *m, const struct recorded_part *parts)
{
	struct str ids = {}, text = {};

	for (int kernel = 1; kernel >= 0; kernel--)
		for (unsigned i = m->ncolumns; i-- > 0;)
			if (m->columns[i].is_stack && m->columns[i].is_kernel == kernel)
				add_stack(w, &parts[i], &ids);
	for (unsigned i = m->ncolumns; w->picture->frames && i-- > 0;)
		if (!m->columns[i].is_stack)
			add_location(&ids, location_of_text(w, parts[i].text));
	if (ids.len)
		str_addf(&text, "{\"locationIndices\": [%s]}", str_text(&ids));
	else
		str_add(&text, "{}"); /* the first element is the empty stack */
	str_done(&ids);
	return element(w, STACKS, &text);
}

static void add_sample(struct writer *w, const struct recorded_map *m, const struct recorded_entry *e)
{
	const struct recorded_part *parts = w->recording->parts.data + e->parts;
	bool any = false;

	str_addf(w->out, "{\"stackIndex\": %u", stack_of(w, m, parts));
	for (unsigned i = 0; i < m->ncolumns; i++) {
		if (m->columns[i].is_stack)
			continue;
		str_addf(w->out, "%s%u", any ? ", " : ", \"attributeIndices\": [",
			attribute_of(w, otlp_key(m->columns[i].label), parts[i].is_number, parts[i].number,
				recording_text(w->recording, parts[i].text)));
		any = true;
	}
	str_addf(w->out, "%s, \"values\": [\"%" PRIu64 "\"]}", any ? "]" : "", e->weight);
}

/* ---- profiles ------------------------------------------------------------ */

/* The type of the period names the profile in some receivers, so it is there, with a period of 1. */
static void add_profile(struct writer *w, const struct recorded_map *m)
{
	const char *name = *m->name ? m->name : !strcmp(m->unit, "count") ? "samples" : "values";
	uint64_t begun = w->picture->begun && w->picture->begun < m->ns ? w->picture->begun : m->ns;
	struct str type = {};

	str_addf(&type, "{\"typeStrindex\": %u, \"unitStrindex\": %u}", string_of(w, name), string_of(w, m->unit));
	str_addf(w->out, "{\"sampleType\": %s, \"periodType\": %s, \"period\": \"1\", ", str_text(&type),
		str_text(&type));
	str_addf(w->out, "\"timeUnixNano\": \"%" PRIu64 "\", \"durationNano\": \"%" PRIu64 "\", \"samples\": [",
		begun, m->ns - begun);
	for (size_t i = 0; i < m->entries.len; i++) {
		str_add(w->out, i ? ", " : "");
		add_sample(w, m, &m->entries.data[i]);
	}
	str_add(w->out, "]}");
	str_done(&type);
}

static void add_dictionary(struct writer *w)
{
	static const char *const names[TABLES] = {
		[STRINGS] = "stringTable", [ATTRIBUTES] = "attributeTable", [FUNCTIONS] = "functionTable",
		[MAPPINGS] = "mappingTable", [LOCATIONS] = "locationTable", [STACKS] = "stackTable",
	};

	str_add(w->out, "\"dictionary\": {\"linkTable\": [{}]");
	for (int t = 0; t < TABLES; t++) {
		str_addf(w->out, ", \"%s\": [", names[t]);
		for (size_t i = 0; i < w->tables[t]->texts.len; i++) {
			const char *text = w->tables[t]->texts.data[i];

			str_add(w->out, i ? ", " : "");
			if (t == STRINGS)
				str_add_json(w->out, text, strlen(text));
			else
				str_add(w->out, text);
		}
		str_addc(w->out, ']');
	}
	str_addc(w->out, '}');
}

void otlp_profiles(const struct picture *p, struct str *out)
{
	struct writer w = {.picture = p, .recording = p->recording, .out = out};

	for (int t = 0; t < TABLES; t++) {
		w.tables[t] = recording_new();
		recording_add_text(w.tables[t], t == STRINGS ? "" : "{}");
	}
	str_add(out, "{\"resourceProfiles\": [");
	otlp_begin("scopeProfiles", out);
	str_add(out, ", \"profiles\": [");
	for (size_t i = 0; i < p->recording->maps.len; i++) {
		str_add(out, i ? ", " : "");
		add_profile(&w, p->recording->maps.data[i]);
	}
	str_addc(out, ']');
	otlp_end(out);
	str_add(out, "], ");
	add_dictionary(&w);
	str_addc(out, '}');
	for (int t = 0; t < TABLES; t++)
		recording_free(w.tables[t]);
}
