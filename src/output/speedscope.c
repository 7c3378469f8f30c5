// SPDX-License-Identifier: Apache-2.0
/* speedscope.c - -f speedscope: the file format of speedscope.app, a profile for each map. Layout: speedscope
 * 1.x, src/lib/file-format-spec.ts: shared.frames has each function once; profiles of the type "sampled" have
 * a list of frames, outermost first, and a weight for each sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "collect.h"
#include "recording.h"

/* A frame is a function, the reason of an end, or a part of a key: texts of the recording, in order of occurrence. */
struct frames {
	const struct picture *picture;
	uint32_t *of_text; /* frame + 1; 0: none yet */
	size_t n;
	struct str json;
};

static void add_json(struct str *out, const char *text)
{
	str_add_json(out, text, strlen(text));
}

static void add_frame(struct frames *f, uint32_t text, const char *file, size_t from, struct str *out)
{
	if (!f->of_text[text]) {
		f->of_text[text] = (uint32_t)++f->n;
		str_add(&f->json, f->n > 1 ? ",\n{\"name\":" : "{\"name\":");
		add_json(&f->json, recording_text(f->picture->recording, text));
		if (file) {
			str_add(&f->json, ",\"file\":");
			add_json(&f->json, file);
		}
		str_addc(&f->json, '}');
	}
	str_addf(out, out->len > from ? ",%u" : "%u", f->of_text[text] - 1);
}

static void add_stack(struct frames *f, const struct recorded_part *part, size_t from, struct str *out)
{
	const struct recording *r = f->picture->recording;

	if (part->text != NO_TEXT)
		add_frame(f, part->text, NULL, from, out);
	for (size_t i = part->n; i-- > 0;) {
		const struct recorded_frame *frame = &r->frames.data[r->ids.data[part->first + i]];

		add_frame(f, frame->function, frame->shown.name.file, from, out);
	}
}

static void add_sample(struct frames *f, const struct recorded_map *m, const struct recorded_entry *e, struct str *out)
{
	const struct recorded_part *parts = f->picture->recording->parts.data + e->parts;
	size_t from;

	str_addc(out, '[');
	from = out->len;
	for (unsigned i = 0; !f->picture->labels && i < m->ncolumns; i++)
		if (!m->columns[i].is_stack)
			add_frame(f, parts[i].text, NULL, from, out);
	for (int kernel = 0; kernel < 2; kernel++)
		for (unsigned i = 0; i < m->ncolumns; i++)
			if (m->columns[i].is_stack && m->columns[i].is_kernel == kernel)
				add_stack(f, &parts[i], from, out);
	str_addc(out, ']');
}

/* Returns one of the format's units. */
static const char *unit_of(const struct recorded_map *m)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(m->unit, known[i]))
			return known[i];
	return "none";
}

static void add_profile(struct frames *f, const struct recorded_map *m, struct str *out)
{
	struct str name = {};

	str_addf(&name, "@%s", m->name);
	str_add(out, "{\"type\":\"sampled\",\"name\":");
	add_json(out, str_text(&name));
	str_done(&name);
	str_addf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		unit_of(m), m->total);
	for (size_t i = 0; i < m->entries.len; i++) {
		str_add(out, i ? ",\n" : "");
		add_sample(f, m, &m->entries.data[i], out);
	}
	str_add(out, "],\n\"weights\":[");
	for (size_t i = 0; i < m->entries.len; i++)
		str_addf(out, i ? ",%" PRIu64 : "%" PRIu64, m->entries.data[i].weight);
	str_add(out, "]}");
}

static int render(const struct picture *p, FILE *file)
{
	const struct recording *r = p->recording;
	struct frames f = {.picture = p, .of_text = calloc(r->texts.len + 1, sizeof(*f.of_text))};
	struct str profiles = {};

	if (!f.of_text)
		out_of_memory();
	for (size_t i = 0; i < r->maps.len; i++) {
		str_add(&profiles, i ? ",\n" : "");
		add_profile(&f, r->maps.data[i], &profiles);
	}
	fprintf(file, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"strata\","
		"\"name\":\"strata\",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[%s]},\n\"profiles\":[",
		str_text(&f.json));
	fwrite(profiles.data, 1, profiles.len, file);
	fputs("]}\n", file);
	free(f.of_text);
	str_done(&f.json);
	str_done(&profiles);
	return 0;
}

const struct output output_speedscope = {
	.name = "speedscope",
	.help = "the maps keyed by stacks, for speedscope.app",
	.endings = "speedscope.json speedscope",
	.exact = true,
	COLLECTS,
	.render = render,
};
