// SPDX-License-Identifier: Apache-2.0
/* software.c - software:EVENT:COUNT, events that the kernel itself counts: page faults, context
 * switches.. They need no PMU. */
#include "counter.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>

/* S(name, PERF_COUNT_SW_*, default count) */
#define EVENTS(S)                                         \
	S("alignment-faults", ALIGNMENT_FAULTS, 1)        \
	S("bpf-output", BPF_OUTPUT, 1)                    \
	S("context-switches", CONTEXT_SWITCHES, 1000)     \
	S("cpu", CPU_CLOCK, 1000000)                      \
	S("cpu-clock", CPU_CLOCK, 1000000)                \
	S("cpu-migrations", CPU_MIGRATIONS, 1)            \
	S("cs", CONTEXT_SWITCHES, 1000)                   \
	S("dummy", DUMMY, 1)                              \
	S("emulation-faults", EMULATION_FAULTS, 1)        \
	S("faults", PAGE_FAULTS, 100)                     \
	S("major-faults", PAGE_FAULTS_MAJ, 1)             \
	S("minor-faults", PAGE_FAULTS_MIN, 100)           \
	S("page-faults", PAGE_FAULTS, 100)                \
	S("task-clock", TASK_CLOCK, 1)

static const struct counter events[] = {
#define S(name, id, period) {name, PERF_COUNT_SW_##id, period},
	EVENTS(S)
#undef S
	{},
};

static const char *const names[] = {
#define S(name, id, period) name ":",
	EVENTS(S)
#undef S
	NULL,
};

static bool software_expand(const struct request *req, struct attach_point *ap)
{
	return counter_expand(req, ap, events);
}

static int software_attach(struct loaded_probe *p)
{
	return counter_attach(p, PERF_TYPE_SOFTWARE);
}

const struct provider provider_software = {
	.name = "software",
	.short_name = "s",
	.form = "software:EVENT[:COUNT]",
	.help = "every COUNT-th event that the kernel counts, on every CPU",
	.ctx = CTX_PERF,
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.section = "perf_event",
	.expand = software_expand,
	.names = names,
	.attach = software_attach,
};
