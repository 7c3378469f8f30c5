// SPDX-License-Identifier: Apache-2.0
/* profile.c - profile:hz:N, samples of running code, on every CPU.
 *
 * It uses perf's software clock, which needs no PMU, so it works in virtual machines, too. It ticks
 * also on idle CPUs (pid 0). */
#include "probes.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>

#define SECOND 1000000000ull

/* The kernel, too, turns a frequency of this clock into a period. */
static bool profile_expand(const struct request *req, struct attach_point *ap)
{
	struct place *p = place_add(req, ap);

	if (!parse_period(req, ap, p))
		return false;
	if (req->settings.thin > 1) {
		p->period = (p->freq ? SECOND / p->period : p->period) * req->settings.thin;
		p->freq = false;
	}
	return true;
}

static int profile_attach(struct loaded_probe *p)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);

		for (const int *cpu = online_cpus(); *cpu >= 0; cpu++) {
			struct perf_event_attr attr = {
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_CPU_CLOCK,
				.freq = place->freq,
				.sample_period = place->period, /* a union with the frequency */
			};
			int r = probe_perf_event(p, place, &attr, *cpu, probe_cookie(p, i));

			if (r)
				return r;
		}
	}
	return 0;
}

const struct provider provider_profile = {
	.name = "profile",
	.short_name = "p",
	.form = "profile:(hz|s|ms|us):N or profile:10ms",
	.help = "samples at a rate, on every CPU",
	.ctx = CTX_PERF,
	.samples = true,
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.section = "perf_event",
	.expand = profile_expand,
	.names = period_names,
	.attach = profile_attach,
};
