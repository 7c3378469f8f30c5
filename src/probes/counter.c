// SPDX-License-Identifier: Apache-2.0
/* counter.c - shared by software and hardware. See counter.h. */
#include "counter.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/owner.h"

static const struct counter *find(const struct counter *rows, const char *name)
{
	for (; rows->name; rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

static bool no_event(const struct request *req, struct attach_point *ap, const struct counter *rows)
{
	const char *names[32], *near;
	size_t n = 0;

	for (; rows[n].name && n < ARRAY_SIZE(names); n++)
		names[n] = rows[n].name;
	diag(req->diags, ap->word_spans[1], DIAG_NO_PLACE, "%s is not a %s event", ap->words[1], ap->provider->name);
	near = nearest(ap->words[1], names, n);
	if (near)
		diag_hint(req->diags, "did you mean %s:%s?", ap->provider->name, near);
	else
		diag_hint(req->diags, "strata -l '%s:*' lists them", ap->provider->name);
	return false;
}

static bool bad_count(const struct request *req, struct attach_point *ap)
{
	diag(req->diags, ap->word_spans[2], DIAG_ATTACH_POINT, "the count must be a number of events");
	diag_hint(req->diags, "write it as %s", ap->provider->form);
	return false;
}

bool counter_expand(const struct request *req, struct attach_point *ap, const struct counter *rows)
{
	const struct counter *row;
	struct place *p;

	if (ap->nwords < 2 || ap->nwords > 3)
		return form_error(req, ap, ap->nwords < 2 ? "an event is missing" : "too many words");
	row = find(rows, ap->words[1]);
	if (!row)
		return no_event(req, ap, rows);
	p = place_add(req, ap);
	p->config = row->config;
	p->period = row->period;
	p->name = arena_printf(req->arena, "%s:%s", ap->provider->name, row->name);
	if (ap->nwords == 3 && *ap->words[2]) {
		if (!number_is(ap->words[2], &p->period) || p->period >> 63)
			return bad_count(req, ap);
		p->period = p->period ? p->period : row->period; /* bpftrace's 0 */
		p->name = arena_printf(req->arena, "%s:%s", p->name, ap->words[2]);
	}
	return true;
}

int counter_attach(struct loaded_probe *p, uint32_t type)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);

		for (const int *cpu = online_cpus(); *cpu >= 0; cpu++) {
			struct perf_event_attr attr = {
				.type = type,
				.config = place->config,
				.sample_period = place->period,
			};
			int r = probe_perf_event(p, place, &attr, *cpu, probe_cookie(p, i));

			if (r)
				return r;
		}
	}
	return 0;
}
