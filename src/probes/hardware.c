// SPDX-License-Identifier: Apache-2.0
/* hardware.c - hardware:EVENT:COUNT, events that the CPU's PMU counts. Virtual machines often have no PMU. */
#include "counter.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* H(name, PERF_COUNT_HW_*, default count) */
#define EVENTS(H)                                                     \
	H("backend-stalls", STALLED_CYCLES_BACKEND, 1000000)          \
	H("branch-instructions", BRANCH_INSTRUCTIONS, 100000)         \
	H("branch-misses", BRANCH_MISSES, 100000)                     \
	H("branches", BRANCH_INSTRUCTIONS, 100000)                    \
	H("bus-cycles", BUS_CYCLES, 100000)                           \
	H("cache-misses", CACHE_MISSES, 1000000)                      \
	H("cache-references", CACHE_REFERENCES, 1000000)              \
	H("cpu-cycles", CPU_CYCLES, 1000000)                          \
	H("cycles", CPU_CYCLES, 1000000)                              \
	H("frontend-stalls", STALLED_CYCLES_FRONTEND, 1000000)        \
	H("instructions", INSTRUCTIONS, 1000000)                      \
	H("ref-cycles", REF_CPU_CYCLES, 1000000)

static const struct counter events[] = {
#define H(name, id, period) {name, PERF_COUNT_HW_##id, period},
	EVENTS(H)
#undef H
	{},
};

static const char *const names[] = {
#define H(name, id, period) name ":",
	EVENTS(H)
#undef H
	NULL,
};

static bool hardware_expand(const struct request *req, struct attach_point *ap)
{
	return counter_expand(req, ap, events);
}

/* The kernel has the event types, but only trying shows whether a counter exists. */
static int probe_pmu(const struct place *place)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = place->config,
		.sample_period = place->period,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, online_cpus()[0], -1, PERF_FLAG_FD_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int hardware_attach(struct loaded_probe *p)
{
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);
		int r = probe_pmu(place);

		if (r == -ENOENT || r == -EOPNOTSUPP || r == -ENODEV) {
			log_error("cannot attach to %s: this machine has no PMU that counts it%s", place->name,
				r == -EOPNOTSUPP ? " with interrupts" : "");
			log_hint("virtual machines often have none; profile:hz:99 and software:cpu-clock need none");
			return r;
		}
	}
	return counter_attach(p, PERF_TYPE_HARDWARE);
}

const struct provider provider_hardware = {
	.name = "hardware",
	.short_name = "h",
	.form = "hardware:EVENT[:COUNT]",
	.help = "every COUNT-th event that the CPU counts, on every CPU",
	.ctx = CTX_PERF,
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.section = "perf_event",
	.expand = hardware_expand,
	.names = names,
	.attach = hardware_attach,
};
