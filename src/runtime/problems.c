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
#include "model/image.h"
#include "shared.h"

enum { PLACES_SHOWN = 4 };

static void add_place(struct str *out, const struct image *img, const struct image_record *r)
{
	unsigned line, col;

	source_position(img->source, r->span.start, &line, &col);
	str_addf(out, "%s:%u:%u", img->source->name, line, col);
}

static bool is_read(const struct image_record *r)
{
	return !strcmp(r->text, "read");
}

void problem_first(const struct image *img, const struct image_record *r, bool reads)
{
	_cleanup_(str_done) struct str at = {};

	add_place(&at, img, r);
	if (!is_read(r))
		log_warn("%s: division by zero: the result is 1", str_text(&at));
	else if (reads)
		log_warn("%s: memory could not be read: the value is 0 or empty", str_text(&at));
}

struct tally {
	uint64_t n;
	unsigned places;
	struct str at;
};

static void add(struct tally *t, const struct image *img, const struct image_record *r, uint64_t n)
{
	t->n += n;
	if (t->places++ >= PLACES_SHOWN)
		return;
	str_add(&t->at, t->at.len ? ", " : "");
	add_place(&t->at, img, r);
	if (n > 1)
		str_addf(&t->at, " (%" PRIu64 ")", n);
}

/* reported: as many were when they happened. */
static void report(struct tally *t, uint64_t reported, const char *what, const char *hint)
{
	if (t->n > reported)
		log_warn("%" PRIu64 " %s: at %s%s%s", t->n, what, str_text(&t->at),
			t->places > PLACES_SHOWN ? ", .." : "", hint);
	str_done(&t->at);
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
				add(is_read(r) ? &reads : &divisions, img, r, count);
		}
	}
	report(&reads, 0, reads.n == 1 ? "read of memory failed" : "reads of memory failed",
		": the values are 0 or empty");
	report(&divisions, divisions.places, divisions.n == 1 ? "division by zero" : "divisions by zero", "");
}
