// SPDX-License-Identifier: Apache-2.0
/* problems.c - reads that failed and divisions by zero: warnings that say where. */
#include "problems.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/image.h"
#include "output/output.h"
#include "shared.h"

enum { PLACES_SHOWN = 4, TEXT_SHOWN = 48 };

/* "x.bt:3:5" and what stands there, if that is short. */
static void add_place(struct str *out, const struct image *img, struct span at)
{
	struct source_spot spot = source_spot(img->source, at.start);
	const char *text = img->source->text + spot.at;
	uint32_t len = at.end - at.start;
	unsigned line, col;

	source_position(img->source, at.start, &line, &col);
	str_addf(out, "%s:%u:%u", spot.name, line, col);
	if (len && len <= TEXT_SHOWN && !memchr(text, '\n', len)) {
		str_add(out, " ");
		str_add_safe(out, text, len);
	}
}

/* "@a[2]: @a is full at 1 element, and updates are lost; .." */
static void add_full(struct str *out, const struct shared *shared, const struct image *img,
	const struct image_record *r)
{
	const struct image_map *m = &img->maps[r->map];
	const struct shared_map *map = shared_find(shared, m->bpf_name);
	uint32_t n = map ? map->max_entries : 0;

	str_addf(out, "@%s is full at %" PRIu32 " element%s: ", m->name, n, n == 1 ? "" : "s");
	if (m->declared)
		str_addf(out, "raise the number in `let @%s = %s(%" PRIu32 ")`", m->name, m->declared, n);
	else
		str_addf(out, "raise config max_map_keys (%" PRIu32 "), or declare `let @%s = hash(N)`", n, m->name);
}

static void add_problem(struct str *out, const struct shared *shared, const struct image *img,
	const struct image_record *r)
{
	add_place(out, img, r->span);
	str_add(out, ": ");
	switch (r->problem) {
	case PROBLEM_READ:
		str_add(out, "memory could not be read: the value is 0 or empty");
		break;
	case PROBLEM_DIVISION:
		str_add(out, "division by zero: the result is 1");
		break;
	case PROBLEM_FULL:
		add_full(out, shared, img, r);
		break;
	case PROBLEM_MISSING:
		str_addf(out, "@%s has no such element: the value is 0 or empty", img->maps[r->map].name);
		break;
	}
}

void problem_first(struct out *o, const struct shared *shared, const struct image *img, const struct image_record *r,
	bool reads)
{
	struct source_spot spot = source_spot(img->source, r->span.start);
	struct output_problem p = {
		.kind = r->problem,
		.filename = strcmp(spot.name, "-e") ? spot.name : "stdin", /* as bpftrace calls it */
	};
	struct output_event e = {.kind = OUTPUT_PROBLEM, .problem = &p};
	_cleanup_(str_done) struct str text = {};

	if ((r->problem == PROBLEM_READ && !reads) || (r->problem != PROBLEM_DIVISION && !log_warnings))
		return;
	add_problem(&text, shared, img, r);
	p.text = str_text(&text);
	source_position(img->source, r->span.start, &p.line, &p.col);
	o->output->event(o, &e);
}

/* ---- at the end --------------------------------------------------------- */

/* Reads that begin at one place of the script: where a->b fails, a->b->c does, too. */
struct place_count {
	const struct image *img;
	struct span at; /* the shortest */
	uint64_t n;     /* the most of one of them */
};

struct tally {
	VEC(struct place_count) places;
};

static void add(struct tally *t, const struct image *img, struct span at, uint64_t n)
{
	for (size_t i = 0; i < t->places.len; i++) {
		struct place_count *p = &t->places.data[i];

		if (p->img != img || p->at.start != at.start)
			continue;
		p->at.end = at.end < p->at.end ? at.end : p->at.end;
		p->n = n > p->n ? n : p->n;
		return;
	}
	vec_push(&t->places, (struct place_count){img, at, n});
}

static void fill(struct tally tallies[], const struct shared *shared, const struct image *const *images, size_t n)
{
	int fd = shared_fd(shared, "problems");

	for (size_t i = 0; fd >= 0 && i < n; i++) {
		const struct image *img = images[i];

		for (unsigned k = 0; k < img->nrecords; k++) {
			uint32_t id = image_record_id(img->number, k);
			const struct image_record *r = &img->records[k];
			uint64_t count;

			if (!strcmp(r->kind, "problem") && !bpf_map_lookup_elem(fd, &id, &count))
				add(&tallies[r->problem], img, r->span, count);
		}
	}
}

/* "at x.bt:3:5 @a[1] (7), .." Returns how many there were. */
static uint64_t add_places(const struct tally *t, struct str *out)
{
	uint64_t all = 0;

	for (size_t i = 0; i < t->places.len; i++) {
		const struct place_count *p = &t->places.data[i];

		all += p->n;
		if (i >= PLACES_SHOWN)
			continue;
		str_add(out, i ? ", " : "at ");
		add_place(out, p->img, p->at);
		if (p->n > 1 && t->places.len > 1)
			str_addf(out, " (%" PRIu64 ")", p->n);
	}
	str_add(out, t->places.len > PLACES_SHOWN ? ", .." : "");
	return all;
}

void problems_full(const struct shared *shared, const struct image *const *images, size_t n, struct str *out)
{
	struct tally tallies[PROBLEM_MISSING + 1] = {};

	fill(tallies, shared, images, n);
	add_places(&tallies[PROBLEM_FULL], out);
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		vec_done(&tallies[i].places);
}

/* reported: as many were when they happened. */
static void report(const struct tally *t, bool reported, const char *one, const char *many, const char *hint)
{
	_cleanup_(str_done) struct str at = {};
	uint64_t all = add_places(t, &at);

	if (all > (reported ? t->places.len : 0))
		log_warn("%" PRIu64 " %s: %s%s", all, all == 1 ? one : many, str_text(&at), hint);
}

void problems_report(const struct shared *shared, const struct image *const *images, size_t n)
{
	struct tally tallies[PROBLEM_MISSING + 1] = {};

	fill(tallies, shared, images, n);
	report(&tallies[PROBLEM_READ], false, "read of memory failed", "reads of memory failed",
		": the values are 0 or empty");
	report(&tallies[PROBLEM_DIVISION], true, "division by zero", "divisions by zero", ": the result is 1");
	report(&tallies[PROBLEM_MISSING], true, "element was missing", "elements were missing",
		": the values are 0 or empty");
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		vec_done(&tallies[i].places);
}
