// SPDX-License-Identifier: Apache-2.0
/* clock.c - builtins for the time. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

static struct ir *gen_elapsed(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *now = gen_call(g, BPF_FUNC_ktime_get_boot_ns, 0);

	return ir_binary(g->ir, IR_SUB, now, gen_start_ns(g));
}

static struct ir *gen_jiffies(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_call(g, BPF_FUNC_jiffies64, 0);
}

/* ---- nsecs -------------------------------------------------------------- */

static const struct clock {
	const char *name;
	unsigned helper;
	bool software; /* adds the difference to CLOCK_TAI at the time when the script was compiled */
} clocks[] = {
	{"boot", BPF_FUNC_ktime_get_boot_ns},
	{"monotonic", BPF_FUNC_ktime_get_ns},
	{"sw_tai", BPF_FUNC_ktime_get_boot_ns, true},
	{"tai", BPF_FUNC_ktime_get_tai_ns},
};

static const struct clock *clock_of(const struct expr *call)
{
	const struct expr *mode = call_arg(call, 0);

	for (size_t i = 0; mode && i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(clocks[i].name, mode->word))
			return &clocks[i];
	return mode ? NULL : &clocks[0];
}

static const struct type *check_nsecs(struct check *c, struct expr *call)
{
	struct expr *mode = call_arg(call, 0);

	if (clock_of(call))
		return NULL;
	check_fail(c, mode->span, DIAG_ARG_TYPE, "unknown clock: %s", mode->word);
	check_hint(c, "the clocks are boot, monotonic, tai and sw_tai");
	return type_bad;
}

static struct ir *gen_nsecs(struct gen *g, struct expr *call, struct ir *into)
{
	const struct clock *clock = clock_of(call);
	struct ir *now = gen_call(g, clock->helper, 0);

	return clock->software ? ir_binary(g->ir, IR_ADD, now, gen_tai_ns(g)) : now;
}

const struct builtin builtins_clock[] = {
	{
		.name = "elapsed",
		.sig = " -> uint64",
		.help = "nanoseconds since strata started",
		.flags = BUILTIN_VAR,
		.gen = gen_elapsed,
	},
	{
		.name = "jiffies",
		.sig = " -> uint64",
		.help = "kernel ticks since boot",
		.flags = BUILTIN_VAR,
		.gen = gen_jiffies,
	},
	{
		.name = "nsecs",
		.sig = "[word] -> uint64",
		.help = "nanoseconds since boot, including sleep; nsecs(CLOCK) for boot, monotonic, tai, sw_tai",
		.flags = BUILTIN_VAR,
		.check = check_nsecs,
		.gen = gen_nsecs,
	},
	BUILTINS_END,
};
