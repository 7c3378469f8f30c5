// SPDX-License-Identifier: Apache-2.0
/* agg.c - values of maps that many events add to: count(), hist().. Emitted with
 * `into` the element of this CPU, zero when new. Layouts: bpf/lib/record.h. */
#include "builtins.h"

#include "bpf/lib/record.h"

/* A program may be interrupted by another that adds to the same element of the same
 * CPU: hence atomic. */
static void add(struct gen *g, struct ir *p, uint64_t offset, struct ir *v)
{
	emit_atomic_add(g->e, emit_offset(g->e, p, offset), v);
}

static const struct type *agg_type(struct check *c, struct node *call, enum agg_kind kind)
{
	struct node *arg = call_arg(call, 0);

	return type_agg(check_arena(c), kind, !arg || arg->type->is_signed);
}

/* ---- count, sum, avg, stats --------------------------------------------- */

static const struct type *check_count(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_COUNT);
}

static struct ir *emit_count(struct gen *g, struct node *call, struct ir *into)
{
	add(g, into, 0, emit_int(g->e, 1));
	return NULL;
}

static const struct type *check_sum(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_SUM);
}

static struct ir *emit_sum(struct gen *g, struct node *call, struct ir *into)
{
	add(g, into, 0, gen_value(g, call_arg(call, 0)));
	return NULL;
}

static const struct type *check_avg(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_AVG);
}

static const struct type *check_stats(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_STATS);
}

static struct ir *emit_stats(struct gen *g, struct node *call, struct ir *into)
{
	add(g, into, offsetof(struct agg_stats, total), gen_value(g, call_arg(call, 0)));
	add(g, into, offsetof(struct agg_stats, count), emit_int(g->e, 1));
	return NULL;
}

/* ---- min, max ----------------------------------------------------------- */

static const struct type *check_min(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_MIN);
}

static const struct type *check_max(struct check *c, struct node *call)
{
	return agg_type(c, call, AGG_MAX);
}

static struct ir *emit_minmax(struct gen *g, struct node *call, struct ir *p, bool min)
{
	struct ir_block *store = emit_block(g->e, "better"), *end = emit_block(g->e, "kept");
	bool s = call_arg(call, 0)->type->is_signed;
	struct ir *v = gen_value(g, call_arg(call, 0)), *old, *unset;
	enum emit_cmp cmp = min ? (s ? EMIT_SLT : EMIT_ULT) : (s ? EMIT_SGT : EMIT_UGT);

	old = emit_load(g->e, p, offsetof(struct agg_minmax, value), 8, false);
	unset = emit_compare(g->e, EMIT_EQ,
		emit_load(g->e, p, offsetof(struct agg_minmax, is_set), 8, false),
		emit_int(g->e, 0));
	emit_branch(g->e, emit_binary(g->e, EMIT_OR, unset, emit_compare(g->e, cmp, v, old)),
		store, end);
	emit_at(g->e, store);
	emit_store(g->e, p, offsetof(struct agg_minmax, value), 8, v);
	emit_store(g->e, p, offsetof(struct agg_minmax, is_set), 8, emit_int(g->e, 1));
	emit_jump(g->e, end);
	emit_at(g->e, end);
	return NULL;
}

static struct ir *emit_min(struct gen *g, struct node *call, struct ir *into)
{
	return emit_minmax(g, call, into, true);
}

static struct ir *emit_max(struct gen *g, struct node *call, struct ir *into)
{
	return emit_minmax(g, call, into, false);
}

/* ---- hist, lhist -------------------------------------------------------- */

static void add_bucket(struct gen *g, struct ir *p, struct ir *bucket, uint32_t buckets)
{
	bucket = gen_below(g, bucket, buckets);
	bucket = emit_binary(g->e, EMIT_MUL, bucket, emit_int(g->e, 8));
	emit_atomic_add(g->e, emit_index(g->e, p, bucket), emit_int(g->e, 1));
}

static const struct type *check_hist(struct check *c, struct node *call)
{
	struct node *arg = call_arg(call, 1);
	int64_t bits = 0;

	if (arg && node_is_const(arg, &bits) && (bits < 0 || bits > HIST_BITS_MAX))
		return check_fail(c, arg->span, DIAG_RANGE,
			"the second argument of hist() is 0 to %d, not %lld", HIST_BITS_MAX,
			(long long)bits);
	return type_hist(check_arena(c), bits);
}

static struct ir *emit_hist(struct gen *g, struct node *call, struct ir *into)
{
	static const char *const params[] = {"u64", "u64", "int"};
	const struct type *t = call->type;
	struct ir *args[] = {
		gen_value(g, call_arg(call, 0)),
		emit_int(g->e, t->agg.bits),
		emit_int(g->e, call_arg(call, 0)->type->is_signed),
	};

	add_bucket(g, into, gen_library(g, "hist_bucket", params, NULL, args, 3),
		t->agg.buckets);
	return NULL;
}

static const struct type *check_lhist(struct check *c, struct node *call)
{
	int64_t min = 0, max = 0, step = 1;

	if (!node_is_const(call_arg(call, 1), &min) || !node_is_const(call_arg(call, 2), &max) ||
		!node_is_const(call_arg(call, 3), &step))
		return type_bad; /* said already */
	if (step <= 0)
		return check_fail(c, call_arg(call, 3)->span, DIAG_RANGE,
			"the step of lhist() must be greater than 0, not %lld", (long long)step);
	if (min >= max)
		return check_fail(c, call_arg(call, 2)->span, DIAG_RANGE,
			"lhist() from %lld to %lld is empty", (long long)min, (long long)max);
	if ((uint64_t)(max - min) / step > LHIST_BUCKETS_MAX - 2)
		return check_fail(c, call->span, DIAG_RANGE,
			"lhist() has at most %d buckets, this one %llu", LHIST_BUCKETS_MAX - 2,
			(unsigned long long)(max - min) / step);
	return type_lhist(check_arena(c), min, max, step);
}

static struct ir *emit_lhist(struct gen *g, struct node *call, struct ir *into)
{
	const struct type *t = call->type;
	struct ir *v = gen_value(g, call_arg(call, 0)), *bucket, *low, *high;
	struct ir *min = emit_int(g->e, t->agg.min), *max = emit_int(g->e, t->agg.max);
	bool s = call_arg(call, 0)->type->is_signed;

	low = emit_compare(g->e, s ? EMIT_SLT : EMIT_ULT, v, min);
	high = emit_compare(g->e, s ? EMIT_SGE : EMIT_UGE, v, max);
	bucket = emit_binary(g->e, EMIT_UDIV, emit_binary(g->e, EMIT_SUB, v, min),
		emit_int(g->e, t->agg.step));
	bucket = emit_binary(g->e, EMIT_ADD, bucket, emit_int(g->e, 1));
	bucket = emit_select(g->e, high, emit_int(g->e, t->agg.buckets - 1), bucket);
	add_bucket(g, into, emit_select(g->e, low, emit_int(g->e, 0), bucket), t->agg.buckets);
	return NULL;
}

const struct builtin builtins_agg[] = {
	{
		.name = "avg",
		.sig = "int -> special",
		.help = "average of the values",
		.flags = BUILTIN_AGG,
		.check = check_avg,
		.emit = emit_stats,
	},
	{
		.name = "count",
		.sig = " -> special",
		.help = "how many times this was reached",
		.flags = BUILTIN_AGG,
		.check = check_count,
		.emit = emit_count,
	},
	{
		.name = "hist",
		.sig = "int [literal] -> special",
		.help = "histogram in powers of two, each in 2^K parts when K is given",
		.flags = BUILTIN_AGG,
		.check = check_hist,
		.emit = emit_hist,
	},
	{
		.name = "lhist",
		.sig = "int literal literal literal -> special",
		.help = "linear histogram from MIN to MAX in steps",
		.flags = BUILTIN_AGG,
		.check = check_lhist,
		.emit = emit_lhist,
	},
	{
		.name = "max",
		.sig = "int -> special",
		.help = "largest of the values",
		.flags = BUILTIN_AGG,
		.check = check_max,
		.emit = emit_max,
	},
	{
		.name = "min",
		.sig = "int -> special",
		.help = "smallest of the values",
		.flags = BUILTIN_AGG,
		.check = check_min,
		.emit = emit_min,
	},
	{
		.name = "stats",
		.sig = "int -> special",
		.help = "count, average and total of the values",
		.flags = BUILTIN_AGG,
		.check = check_stats,
		.emit = emit_stats,
	},
	{
		.name = "sum",
		.sig = "int -> special",
		.help = "sum of the values",
		.flags = BUILTIN_AGG,
		.check = check_sum,
		.emit = emit_sum,
	},
	BUILTINS_END,
};
