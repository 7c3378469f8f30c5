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

static struct ir *only_pid(struct gen *g)
{
	return ir_library_value(g->ir, "only_pid", 4, ".rodata");
}

/* Returns the nsecs that the program's first statement assigns or aggregates, or NULL. */
static const struct expr *first_clock(const struct gen *g)
{
	const struct stmt *first = g->probe->body;
	const struct expr *n;

	while (first && first->kind == STMT_BLOCK)
		first = first->stmts;
	if (!first || first->kind != STMT_ASSIGN || first->assign.op != OP_NONE)
		return NULL;
	n = first->assign.right;
	if (n->kind == EXPR_CALL && n->call.builtin->flags & BUILTIN_AGG)
		n = n->call.args;
	return n && n->kind == EXPR_CALL && !strcmp(n->call.name, "nsecs") ? n : NULL;
}

/* The instruction that reads the clock waits for all that precede it. So it comes first, unless events are likely to be
 * left out. The verifier knows only_pid and drops the branch that is not taken. */
void gen_clock_early(struct gen *g)
{
	const struct expr *call = first_clock(g);
	struct ir_block *early, *on;

	if (!call || g->predicate || g->opt->thin > 1)
		return;
	early = ir_block(g->ir, "early");
	on = ir_block(g->ir, "filter");
	g->fn.clock = call;
	g->fn.now = gen_local(g);
	ir_store(g->ir, g->fn.now, 0, 8, ir_int(g->ir, 0));
	ir_branch(g->ir, only_pid(g), on, early);
	ir_at(g->ir, early);
	ir_store(g->ir, g->fn.now, 0, 8, gen_call(g, clock_of(call)->helper, 0));
	ir_jump(g->ir, on);
	ir_at(g->ir, on);
}

static struct ir *read_clock(struct gen *g, const struct expr *call)
{
	struct ir_block *late, *end;

	if (g->fn.clock != call)
		return gen_call(g, clock_of(call)->helper, 0);
	late = ir_block(g->ir, "late");
	end = ir_block(g->ir, "was_read");
	ir_branch(g->ir, only_pid(g), late, end);
	ir_at(g->ir, late);
	ir_store(g->ir, g->fn.now, 0, 8, gen_call(g, clock_of(call)->helper, 0));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, g->fn.now, 0, 8, false);
}

static struct ir *gen_nsecs(struct gen *g, struct expr *call, struct ir *into)
{
	const struct clock *clock = clock_of(call);
	struct ir *now = read_clock(g, call);

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
