// SPDX-License-Identifier: Apache-2.0
/* loop.c - polls a session until it ends, or until its time is over. */
#include "loop.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/owner.h"
#include "base/str.h"
#include "live.h"
#include "model/image.h"
#include "probes/probes.h"
#include "session/session.h"

#define SECOND 1000000000ull
#define FIRST_NS (SECOND / 2) /* a session that ends earlier needs no status line */

static bool samples(const struct image *img)
{
	bool does = false;

	for (unsigned i = 0; i < img->nprogs; i++)
		does |= img->progs[i].provider == &provider_profile;
	return does;
}

/* Returns whether the script prints, which it does through records. */
static bool prints(const struct image *img)
{
	bool does = false;

	for (unsigned i = 0; i < img->nrecords; i++)
		does |= image_record_prints(&img->records[i]);
	return does;
}

/* Shows "  3.0 s  297 samples  0 lost  2 incomplete". */
static void show_progress(const struct session *s, const struct loop_options *opt, uint64_t start)
{
	double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
	struct session_progress p;
	struct str text = {};

	session_progress(s, &p);
	if (opt->duration > 0)
		str_addf(&text, "%.0f of %.0f s", seconds, opt->duration);
	else
		str_addf(&text, "%.0f s", seconds);
	log_progress("%s  %" PRIu64 " %s  %" PRIu64 " lost  %" PRIu64 " incomplete stacks%s", str_text(&text),
		p.samples, samples(opt->image) ? "samples" : "events", p.lost, p.incomplete,
		opt->duration > 0 ? "" : "  (Ctrl-C ends it)");
	str_done(&text);
}

/* The manager's watchdog bites after four missed messages. strata agent reads the lines that begin with X_. */
static uint64_t notify(struct session *s, const struct loop_options *opt, uint64_t now)
{
	struct session_progress p;
	uint64_t ns, runs, tables;
	unsigned refused;

	session_progress(s, &p);
	session_cost(s, opt->image->number, &ns, &runs);
	session_trim(s, &tables, &refused);
	notify_send("WATCHDOG=1\nX_STRATA_BPF_NS=%" PRIu64 "\nX_STRATA_BPF_RUNS=%" PRIu64 "\nX_STRATA_LOST=%" PRIu64
		"\nX_STRATA_INCOMPLETE=%" PRIu64 "\nX_STRATA_TABLES=%" PRIu64 "\nX_STRATA_REFUSED=%u", ns, runs, p.lost,
		p.incomplete, tables, refused);
	return notify_watchdog() ? now + notify_watchdog() / 4 : UINT64_MAX;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void wait(struct session *s, const struct loop_options *opt, uint64_t start, uint64_t end)
{
	bool shows = opt->counts && (!opt->terminal || !prints(opt->image));
	uint64_t next = shows ? start + FIRST_NS : UINT64_MAX, now;
	uint64_t notifies = opt->notifies && notify_watchdog() ? start : UINT64_MAX;

	while (session_poll(s, clock_ms_until(earliest(notifies, earliest(next, end))))) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= end)
			break;
		if (now >= notifies)
			notifies = notify(s, opt, now);
		if (now < next)
			continue;
		show_progress(s, opt, start);
		next = now + SECOND;
	}
	log_progress(NULL);
}

void loop_run(struct session *s, const struct loop_options *opt)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	uint64_t end = opt->duration > 0 ? start + (uint64_t)(opt->duration * 1e9) : UINT64_MAX;

	if (opt->live > 0)
		live_run(s, opt->live, opt->terminal, end);
	else
		wait(s, opt, start, end);
	if (opt->notifies) {
		notify(s, opt, start);
		notify_send("STOPPING=1");
	}
}

bool loop_read_time(const char *text, double *ret_seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	char *unit;
	double n = strtod(text, &unit);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (unit > text && !strcmp(unit, units[i].name)) {
			*ret_seconds = n * units[i].seconds;
			return *ret_seconds > 0 && *ret_seconds < 1e8;
		}
	return false;
}
