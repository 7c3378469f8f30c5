// SPDX-License-Identifier: Apache-2.0
/* interval.c - interval:UNIT:N, a timer on one CPU.
 *
 * The kernel has no timer for programs, so a software clock perf event is opened with the period, and the
 * program runs on overflow. */
#include "probes.h"

#include <linux/bpf.h>

static bool interval_expand(const struct request *req, struct attach_point *ap)
{
	return parse_period(req, ap, place_add(req, ap));
}

static int interval_attach(struct loaded_probe *p)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);
		uint64_t ns = place->freq ? 1000000000 / place->period : place->period;
		int r = probe_timer(p, i, online_cpus()[0], ns);

		if (r)
			return r;
	}
	return 0;
}

const struct provider provider_interval = {
	.name = "interval",
	.short_name = "i",
	.form = "interval:(hz|s|ms|us):N or interval:1s",
	.help = "a timer, on one CPU",
	.ctx = CTX_PERF,
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.section = "perf_event",
	.any_process = true,
	.counts_runs = true,
	.expand = interval_expand,
	.names = period_names,
	.attach = interval_attach,
};
