// SPDX-License-Identifier: Apache-2.0
/* collect.c - see collect.h. */
#include "collect.h"

#include "base/log.h"
#include "base/why.h"
#include "model/image.h"
#include "recording.h"
#include "shorten.h"
#include "text.h"
#include "values/entries.h"

void collect_begin(struct out *o, const struct image *img)
{
	for (unsigned i = 0; i < img->nmaps; i++)
		if (recording_takes(&img->maps[i]))
			return;
	log_warn("-f %s writes maps keyed by stacks, as @[ustack] = count(): this script has none",
		o->output->name);
}

void collect_text(struct out *o, const char *kind, const char *text, size_t size)
{
	fwrite(text, 1, size, stderr);
}

void collect_value(struct out *o, const struct type *t, const uint8_t *data)
{
	text_value(o->show, t, data, stderr);
}

void collect_warn(const struct recorded_map *m)
{
	if (m->negative)
		log_warn("@%s: %zu stack%s left out: a value below 0 has no width", m->name, m->negative,
			m->negative == 1 ? " is" : "s are");
}

void collect_map(struct out *o, const struct map_content *c)
{
	if (!recording_takes(c->map)) {
		text_map(o->show, c, false, stderr);
		return;
	}
	if (!o->recording)
		o->recording = recording_new();
	collect_warn(recording_add(o->recording, o->show, c));
}

static bool has_stacks(const struct recording *r)
{
	for (size_t i = 0; r && i < r->maps.len; i++)
		if (r->maps.data[i]->total)
			return true;
	return false;
}

void collect_finish(struct out *o)
{
	struct picture p = {.recording = o->recording};
	int r = 0;

	if (o->recording && o->about)
		o->recording->about = recording_text(o->recording, recording_add_text(o->recording, o->about));
	if (o->recording && o->output->is_picture && !o->long_names)
		shorten_recording(o->recording);
	if (has_stacks(o->recording))
		r = o->output->render(&p, o->file);
	else
		log_warn("there is no stack to draw");
	if (r)
		log_error("cannot make %s: %s", o->output->name, why_errno(r));
	recording_free(o->recording);
	o->recording = NULL;
}
