// SPDX-License-Identifier: Apache-2.0
/* watchpoint.c - watchpoint:ADDRESS:LENGTH:MODE, a breakpoint of the CPU on memory: of the kernel, or of the
 * process of -p or -c and its threads.
 *
 * It is opened on each CPU for everything that runs there, including future threads, and the program ignores
 * other processes. A CPU has four such breakpoints. */
#include "probes.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/number.h"
#include "target/target.h"

static bool word_error(const struct request *req, struct attach_point *ap, unsigned word, const char *what,
	const char *hint)
{
	diag(req->diags, ap->word_spans[word], DIAG_ATTACH_POINT, "%s", what);
	diag_hint(req->diags, "%s", hint);
	return false;
}

/* Letters are in any order; the CPU can watch x, w and rw. */
static bool parse_mode(const char *text, uint32_t *ret)
{
	*ret = 0;
	for (; *text; text++) {
		uint32_t bit = *text == 'r' ? HW_BREAKPOINT_R : *text == 'w' ? HW_BREAKPOINT_W :
			*text == 'x' ? HW_BREAKPOINT_X : 0;

		if (!bit || *ret & bit)
			return false;
		*ret |= bit;
	}
	return *ret == HW_BREAKPOINT_X || *ret == HW_BREAKPOINT_W || *ret == HW_BREAKPOINT_RW;
}

static bool watchpoint_expand(const struct request *req, struct attach_point *ap)
{
	uint64_t address, length;
	struct place *p;
	uint32_t mode;

	if (ap->nwords != 4)
		return form_error(req, ap, "an address, a length and a mode are wanted");
	if (!number_is(ap->words[1], &address))
		return word_error(req, ap, 1, "not an address",
			"of a symbol of the kernel strata -e 'begin { print(kaddr(\"NAME\")); exit() }' prints it");
	if (!number_is(ap->words[2], &length) || (length != 1 && length != 2 && length != 4 && length != 8))
		return word_error(req, ap, 2, "the length must be 1, 2, 4 or 8", "that is what a CPU can watch");
	if (!parse_mode(ap->words[3], &mode))
		return word_error(req, ap, 3, "the mode must be w, rw or x",
			"w: written, rw: read or written, x: executed");
	if (mode != HW_BREAKPOINT_X && address % length)
		return word_error(req, ap, 1, "the address must be a multiple of the length",
			"a CPU watches aligned words; watch a larger one or several");
	p = place_add(req, ap);
	p->offset = address;
	p->period = mode == HW_BREAKPOINT_X ? sizeof(long) : length; /* the kernel requires that */
	p->config = mode;
	p->name = arena_printf(req->arena, "watchpoint:%s:%s:%s", ap->words[1], ap->words[2], ap->words[3]);
	return true;
}

static const char *watchpoint_lacks(struct target *t)
{
	return target_feature(t, FEATURE_WATCHPOINT) ? NULL :
		"breakpoints of the CPU do not fire on this machine, as in some virtual machines";
}

static int watchpoint_attach(struct loaded_probe *p)
{
	const char *lacks = watchpoint_lacks(p->target);

	if (lacks) {
		log_error("cannot attach to %s: %s", probe_place(p, 0)->name, lacks);
		log_hint("a function that writes the word can be probed: uprobe:FILE:FUNCTION");
		return -ENODEV;
	}
	for (uint32_t i = 0; i < p->prog->nplaces; i++) {
		const struct place *place = probe_place(p, i);

		for (const int *cpu = online_cpus(); *cpu >= 0; cpu++) {
			struct perf_event_attr attr = {
				.type = PERF_TYPE_BREAKPOINT,
				.bp_type = (uint32_t)place->config,
				.bp_addr = place->offset,
				.bp_len = place->period,
				.sample_period = 1,
			};
			int r = probe_perf_event(p, place, &attr, *cpu, probe_cookie(p, i));

			if (r == -ENOSPC)
				log_hint("a CPU has four watchpoints, and others may use them");
			if (r)
				return r;
		}
	}
	return 0;
}

const struct provider provider_watchpoint = {
	.name = "watchpoint",
	.short_name = "w",
	.form = "watchpoint:ADDRESS:LENGTH:(w|rw|x)",
	.help = "a write, read or execution of memory at ADDRESS",
	.ctx = CTX_PERF,
	.prog_type = BPF_PROG_TYPE_PERF_EVENT,
	.section = "perf_event",
	.expand = watchpoint_expand,
	.attach = watchpoint_attach,
	.lacks = watchpoint_lacks,
};
