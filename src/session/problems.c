// SPDX-License-Identifier: Apache-2.0
/* problems.c - warnings with their places in the script: reads that failed, divisions by zero, indices
 * beyond arrays, full maps. */
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

/* Appends "x.bt:3:5" and the code there, if it is short. */
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

/* Appends "@a[2]: @a is full at 1 element, and updates are lost; .." */
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

static const struct kind {
	const char *first; /* message for the first time at a place; NULL: made for the map */
	bool always;       /* false: print that message only with -k */
	const char *one, *many, *hint; /* the summary at the end; NULL: none */
} kinds[PROBLEM_MAX] = {
	[PROBLEM_READ] = {
		.first = "memory could not be read: the value is 0 or empty",
		.one = "read of memory failed",
		.many = "reads of memory failed",
		.hint = ": the values are 0 or empty",
	},
	[PROBLEM_DIVISION] = {
		.first = "division by zero: the result is 1",
		.always = true,
		.one = "division by zero",
		.many = "divisions by zero",
		.hint = ": the result is 1",
	},
	[PROBLEM_INDEX] = {
		.first = "the index is beyond the array: the value is 0, or what lies there",
		.always = true,
		.one = "index beyond an array",
		.many = "indices beyond arrays",
		.hint = ": the value is 0, or what lies there",
	},
	[PROBLEM_FULL] = { /* losses_report() has the summary */
		.always = true,
	},
	[PROBLEM_UPDATE] = { /* losses_report() has the summary */
		.first = "the kernel refused the update: the map was busy, or no memory was free",
		.always = true,
	},
	[PROBLEM_LENGTH] = { /* userspace finishes the walk: the tables were not made when the program asked */
		.first = "the length of the stack is not known yet, as its process has just begun: it is 0",
		.always = true,
		.one = "length of a stack was not known yet",
		.many = "lengths of stacks were not known yet",
		.hint = ", as their processes had just begun: they are 0",
	},
	[PROBLEM_UNDECIDED] = { /* the summary has all */
		.one = "event was not decided",
		.many = "events were not decided",
		.hint = ", because frames of their stacks were missing or had no names yet: "
			"they are missing from the answer",
	},
	[PROBLEM_APPLY] = { /* the summary has all */
		.one = "update of a held event was lost",
		.many = "updates of held events were lost",
		.hint = ", because the kernel did not run their program: they are missing from the answer",
	},
	[PROBLEM_MISSING] = { /* the script requests this one, by -k */
		.always = true,
		.one = "element was missing",
		.many = "elements were missing",
		.hint = ": the values are 0 or empty",
	},
};

static void add_problem(struct str *out, const struct shared *shared, const struct image *img,
	const struct image_record *r)
{
	add_place(out, img, r->span);
	str_add(out, ": ");
	if (r->problem == PROBLEM_FULL)
		add_full(out, shared, img, r);
	else if (r->problem == PROBLEM_MISSING)
		str_addf(out, "@%s has no such element: the value is 0 or empty", img->maps[r->map].name);
	else
		str_add(out, kinds[r->problem].first);
}

void problem_first(struct out *o, const struct shared *shared, const struct image *img, const struct image_record *r,
	bool reads)
{
	struct source_spot spot = source_spot(img->source, r->span.start);
	struct output_problem p = {
		.kind = r->problem,
		.filename = strcmp(spot.name, "-e") ? spot.name : "stdin", /* bpftrace's name for it */
	};
	struct output_event e = {.kind = OUTPUT_PROBLEM, .problem = &p};
	_cleanup_(str_done) struct str text = {};

	if (!kinds[r->problem].first && (r->problem == PROBLEM_UNDECIDED || r->problem == PROBLEM_APPLY))
		return;
	if ((!kinds[r->problem].always && !reads) || (problem_is_helper(r->problem) && !log_warnings))
		return;
	add_problem(&text, shared, img, r);
	p.text = str_text(&text);
	source_position(img->source, r->span.start, &p.line, &p.col);
	o->output->event(o, &e);
}

/* ---- at the end --------------------------------------------------------- */

/* Reads that begin at one place of the script: if a->b fails, a->b->c does, too. */
struct place_count {
	const struct image *img;
	struct span at; /* the shortest of the spans */
	const char *why; /* the reason why events could not be held; or NULL */
	uint64_t n;     /* the largest of their counts */
};

struct tally {
	VEC(struct place_count) places;
};

static void add(struct tally *t, const struct image *img, const struct image_record *r, uint64_t n)
{
	struct span at = r->span;

	for (size_t i = 0; i < t->places.len; i++) {
		struct place_count *p = &t->places.data[i];

		if (p->img != img || p->at.start != at.start)
			continue;
		p->at.end = at.end < p->at.end ? at.end : p->at.end;
		p->n = n > p->n ? n : p->n;
		return;
	}
	vec_push(&t->places, (struct place_count){img, at, r->text, n});
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
				add(&tallies[r->problem], img, r, count);
		}
	}
}

/* Appends "at x.bt:3:5 @a[1] (7), .." Returns the sum of the counts. */
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
		if (p->why)
			str_addf(out, " [%s]", p->why);
	}
	str_add(out, t->places.len > PLACES_SHOWN ? ", .." : "");
	return all;
}

void problems_full(const struct shared *shared, const struct image *const *images, size_t n, struct str *out)
{
	struct tally tallies[PROBLEM_MAX] = {};

	fill(tallies, shared, images, n);
	add_places(&tallies[PROBLEM_FULL], out);
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		vec_done(&tallies[i].places);
}

/* Prints the summary, unless all of it was reported when it happened. Returns the sum of the counts. */
static uint64_t report(const struct tally *t, const struct kind *kind)
{
	_cleanup_(str_done) struct str at = {};
	uint64_t all = add_places(t, &at);

	if (kind->one && all > (kind->always ? t->places.len : 0))
		log_warn("%" PRIu64 " %s: %s%s", all, all == 1 ? kind->one : kind->many, str_text(&at), kind->hint);
	return all;
}

uint64_t problems_report(const struct shared *shared, const struct image *const *images, size_t n)
{
	struct tally tallies[PROBLEM_MAX] = {};
	uint64_t undecided = 0;

	fill(tallies, shared, images, n);
	for (size_t k = 0; k < PROBLEM_MAX; k++) {
		uint64_t all = report(&tallies[k], &kinds[k]);

		undecided = k == PROBLEM_UNDECIDED ? all : undecided;
		vec_done(&tallies[k].places);
	}
	return undecided;
}
