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

static bool is_read(const struct image_record *r)
{
	return !strcmp(r->text, "read");
}

void problem_first(struct out *o, const struct image *img, const struct image_record *r, bool reads)
{
	struct source_spot spot = source_spot(img->source, r->span.start);
	struct output_problem p = {
		.is_read = is_read(r),
		.filename = strcmp(spot.name, "-e") ? spot.name : "stdin", /* as bpftrace calls it */
	};
	struct output_event e = {.kind = OUTPUT_PROBLEM, .problem = &p};
	_cleanup_(str_done) struct str text = {};

	if (p.is_read && !reads)
		return;
	add_place(&text, img, r->span);
	str_add(&text, p.is_read ? ": memory could not be read: the value is 0 or empty" :
				   ": division by zero: the result is 1");
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

/* reported: as many were when they happened. */
static void report(struct tally *t, bool reported, const char *one, const char *many, const char *hint)
{
	_cleanup_(str_done) struct str at = {};
	uint64_t all = 0;

	for (size_t i = 0; i < t->places.len; i++) {
		const struct place_count *p = &t->places.data[i];

		all += p->n;
		if (i >= PLACES_SHOWN)
			continue;
		str_add(&at, i ? ", " : "");
		add_place(&at, p->img, p->at);
		if (p->n > 1 && t->places.len > 1)
			str_addf(&at, " (%" PRIu64 ")", p->n);
	}
	if (all > (reported ? t->places.len : 0))
		log_warn("%" PRIu64 " %s: at %s%s%s", all, all == 1 ? one : many, str_text(&at),
			t->places.len > PLACES_SHOWN ? ", .." : "", hint);
	vec_done(&t->places);
}

void problems_report(const struct shared *shared, const struct image *const *images, size_t n)
{
	int fd = shared_fd(shared, "problems");
	struct tally reads = {}, divisions = {};

	for (size_t i = 0; fd >= 0 && i < n; i++) {
		const struct image *img = images[i];

		for (unsigned k = 0; k < img->nrecords; k++) {
			uint32_t id = image_record_id(img->number, k);
			const struct image_record *r = &img->records[k];
			uint64_t count;

			if (!strcmp(r->kind, "problem") && !bpf_map_lookup_elem(fd, &id, &count))
				add(is_read(r) ? &reads : &divisions, img, r->span, count);
		}
	}
	report(&reads, false, "read of memory failed", "reads of memory failed",
		": the values are 0 or empty");
	report(&divisions, true, "division by zero", "divisions by zero", ": the result is 1");
}
