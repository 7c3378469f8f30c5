// SPDX-License-Identifier: Apache-2.0
/* agg.c - aggregations: count(), hist(), tseries().. Their .gen gets this CPU's element in `into`; a new
 * element is zero. bpf/lib/record.h has the layouts. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/record.h"
#include "model/request.h"

/* The addition is atomic: another program may interrupt this one and add to the same element of the same
 * CPU. */
static void add(struct gen *g, struct ir *p, uint64_t offset, struct ir *v)
{
	ir_atomic_add(g->ir, ir_offset(g->ir, p, offset), v);
}

static const struct type *agg_type(struct check *c, struct expr *call, enum agg_kind kind)
{
	struct expr *arg = call_arg(call, 0);

	return type_agg(check_arena(c), kind, !arg || type_natural(arg->type)->is_signed);
}

/* Returns the number of runs for which this one stands, as config thin says. */
static uint64_t weight(const struct gen *g)
{
	return g->provider->samples || thin_event(g->probe, g->provider) ? g->opt->thin : 1;
}

static struct ir *weighted(struct gen *g, struct ir *value)
{
	return weight(g) == 1 ? value : ir_binary(g->ir, IR_MUL, value, ir_int(g->ir, weight(g)));
}

/* ---- count, sum, avg, stats --------------------------------------------- */

static const struct type *check_count(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_COUNT);
}

static struct ir *gen_count(struct gen *g, struct expr *call, struct ir *into)
{
	add(g, into, 0, ir_int(g->ir, weight(g)));
	return NULL;
}

static const struct type *check_sum(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_SUM);
}

static struct ir *gen_sum(struct gen *g, struct expr *call, struct ir *into)
{
	add(g, into, 0, weighted(g, gen_value(g, call_arg(call, 0))));
	return NULL;
}

static const struct type *check_avg(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_AVG);
}

static const struct type *check_stats(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_STATS);
}

static struct ir *gen_stats(struct gen *g, struct expr *call, struct ir *into)
{
	add(g, into, offsetof(struct agg_stats, total), weighted(g, gen_value(g, call_arg(call, 0))));
	add(g, into, offsetof(struct agg_stats, count), ir_int(g->ir, weight(g)));
	return NULL;
}

/* ---- min, max ----------------------------------------------------------- */

static const struct type *check_min(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_MIN);
}

static const struct type *check_max(struct check *c, struct expr *call)
{
	return agg_type(c, call, AGG_MAX);
}

static struct ir *gen_minmax(struct gen *g, struct expr *call, struct ir *p, bool min)
{
	struct ir_block *store = ir_block(g->ir, "better"), *end = ir_block(g->ir, "kept");
	bool s = call->type->is_signed; /* the map's sign, since other calls may give it negative numbers */
	struct ir *v = gen_value(g, call_arg(call, 0)), *old, *unset;
	enum ir_cmp cmp = min ? (s ? IR_SLT : IR_ULT) : (s ? IR_SGT : IR_UGT);

	old = ir_load(g->ir, p, offsetof(struct agg_minmax, value), 8, false);
	unset = ir_compare(g->ir, IR_EQ,
		ir_load(g->ir, p, offsetof(struct agg_minmax, is_set), 8, false),
		ir_int(g->ir, 0));
	ir_branch(g->ir, ir_binary(g->ir, IR_OR, unset, ir_compare(g->ir, cmp, v, old)),
		store, end);
	ir_at(g->ir, store);
	ir_store(g->ir, p, offsetof(struct agg_minmax, value), 8, v);
	ir_store(g->ir, p, offsetof(struct agg_minmax, is_set), 8, ir_int(g->ir, 1));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return NULL;
}

static struct ir *gen_min(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_minmax(g, call, into, true);
}

static struct ir *gen_max(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_minmax(g, call, into, false);
}

/* ---- hist, lhist -------------------------------------------------------- */

static void add_bucket(struct gen *g, struct ir *p, struct ir *bucket, uint32_t buckets)
{
	bucket = gen_below(g, bucket, buckets);
	bucket = ir_binary(g->ir, IR_MUL, bucket, ir_int(g->ir, 8));
	ir_atomic_add(g->ir, ir_index(g->ir, p, bucket), ir_int(g->ir, weight(g)));
}

static const struct type *check_hist(struct check *c, struct expr *call)
{
	struct expr *arg = call_arg(call, 1);
	int64_t bits = 0;

	if (arg && expr_is_const(arg, &bits) && (bits < 0 || bits > HIST_BITS_MAX))
		return check_fail(c, arg->span, DIAG_RANGE,
			"the second argument of hist() is 0 to %d, not %lld", HIST_BITS_MAX,
			(long long)bits);
	return type_hist(check_arena(c), bits);
}

/* The number of the highest set bit: the top 6 bits of DE_BRUIJN * (2^(n + 1) - 1) differ for each n. */
#define DE_BRUIJN 0x03f79d71b4cb0a89ull

static struct ir *highest_bit(struct gen *g, struct ir *v)
{
	uint8_t table[64];

	for (unsigned n = 0; n < 64; n++)
		table[DE_BRUIJN * (UINT64_MAX >> (63 - n)) >> 58] = (uint8_t)n;
	for (unsigned shift = 1; shift < 64; shift *= 2)
		v = ir_binary(g->ir, IR_OR, v, ir_binary(g->ir, IR_LSHR, v, ir_int(g->ir, shift)));
	v = ir_binary(g->ir, IR_LSHR, ir_binary(g->ir, IR_MUL, v, ir_int(g->ir, DE_BRUIJN)), ir_int(g->ir, 58));
	return ir_load(g->ir, ir_index(g->ir, ir_bytes(g->ir, "highest_bits", table, sizeof(table)), v), 0, 1, false);
}

/* Without branches, since the verifier would follow each of them, and without a call, which costs more than the rest. 0
 * is in bucket 1, and 1 in bucket 2. */
static struct ir *power_bucket(struct gen *g, struct ir *v, bool is_signed)
{
	struct ir *minus = ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), v), *bucket;
	struct ir *is_set = ir_binary(g->ir, IR_LSHR, ir_binary(g->ir, IR_OR, v, minus), ir_int(g->ir, 63));

	bucket = ir_binary(g->ir, IR_ADD, highest_bit(g, v), ir_binary(g->ir, IR_ADD, is_set, ir_int(g->ir, 1)));
	if (!is_signed)
		return bucket;
	return ir_select(g->ir, ir_compare(g->ir, IR_SLT, v, ir_int(g->ir, 0)), ir_int(g->ir, 0), bucket);
}

static struct ir *gen_hist(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"u64", "u64", "int"};
	bool is_signed = call_arg(call, 0)->type->is_signed;
	const struct type *t = call->type;
	struct ir *v = gen_value(g, call_arg(call, 0)), *args[] = {
		v, ir_int(g->ir, t->agg.bits), ir_int(g->ir, is_signed),
	};

	add_bucket(g, into, t->agg.bits ? gen_library(g, "hist_bucket", params, NULL, args, 3) :
		power_bucket(g, v, is_signed), t->agg.buckets);
	return NULL;
}

static const struct type *check_lhist(struct check *c, struct expr *call)
{
	int64_t min = 0, max = 0, step = 1;

	if (!expr_is_const(call_arg(call, 1), &min) || !expr_is_const(call_arg(call, 2), &max) ||
		!expr_is_const(call_arg(call, 3), &step))
		return type_bad; /* the error was reported */
	if (step <= 0)
		return check_fail(c, call_arg(call, 3)->span, DIAG_RANGE,
			"the step of lhist() must be greater than 0, not %lld", (long long)step);
	if (min >= max)
		return check_fail(c, call_arg(call, 2)->span, DIAG_RANGE,
			"lhist() from %lld to %lld is empty", (long long)min, (long long)max);
	if (((uint64_t)max - (uint64_t)min) / step > LHIST_BUCKETS_MAX - 2)
		return check_fail(c, call->span, DIAG_RANGE,
			"lhist() has at most %d buckets, this one %llu", LHIST_BUCKETS_MAX - 2,
			(unsigned long long)((uint64_t)max - (uint64_t)min) / step);
	return type_lhist(check_arena(c), min, max, step);
}

static struct ir *gen_lhist(struct gen *g, struct expr *call, struct ir *into)
{
	const struct type *t = call->type;
	struct ir *v = gen_value(g, call_arg(call, 0)), *bucket, *low, *high;
	struct ir *min = ir_int(g->ir, t->agg.min), *max = ir_int(g->ir, t->agg.max);
	bool s = call_arg(call, 0)->type->is_signed;

	low = s || t->agg.min > 0 ? ir_compare(g->ir, s ? IR_SLT : IR_ULT, v, min) : ir_int(g->ir, 0);
	high = s || t->agg.max > 0 ? ir_compare(g->ir, s ? IR_SGE : IR_UGE, v, max) : ir_int(g->ir, 1);
	bucket = ir_binary(g->ir, IR_UDIV, ir_binary(g->ir, IR_SUB, v, min),
		ir_int(g->ir, t->agg.step));
	bucket = ir_binary(g->ir, IR_ADD, bucket, ir_int(g->ir, 1));
	bucket = ir_select(g->ir, high, ir_int(g->ir, t->agg.buckets - 1), bucket);
	add_bucket(g, into, ir_select(g->ir, low, ir_int(g->ir, 0), bucket), t->agg.buckets);
	return NULL;
}

/* ---- tseries ------------------------------------------------------------ */

static const char *const series_names[] = {
	[SERIES_AVG] = "avg", [SERIES_MAX] = "max", [SERIES_MIN] = "min", [SERIES_SUM] = "sum",
};

/* Returns -1 if there is no such name. */
static int series_by_name(const struct expr *n)
{
	for (int i = SERIES_AVG; n && i <= SERIES_SUM; i++)
		if (!strcmp(series_names[i], n->string.text))
			return i;
	return n ? -1 : SERIES_LAST;
}

static const struct type *check_tseries(struct check *c, struct expr *call)
{
	struct expr *length = call_arg(call, 1), *many = call_arg(call, 2), *how = call_arg(call, 3);
	int series = series_by_name(how);
	int64_t step = 0, n = 0;

	if (!check_unstable(c, call->span, "tseries", check_request(c)->settings.unstable_tseries) ||
		!expr_is_const(length, &step) || !expr_is_const(many, &n))
		return type_bad;
	if (step < 1)
		return check_fail(c, length->span, DIAG_RANGE, "an interval is at least 1 ns, not %lld",
			(long long)step);
	if (n < 1 || n > TSERIES_MAX)
		return check_fail(c, many->span, DIAG_RANGE, "tseries() keeps 1 to %d intervals, not %lld",
			TSERIES_MAX, (long long)n);
	if (series < 0)
		return check_fail(c, how->span, DIAG_NAME, "tseries() can keep avg, max, min or sum of an interval, "
			"not %s", how->string.text);
	return type_tseries(check_arena(c), call_arg(call, 0)->type->is_signed, step, (uint32_t)n, series);
}

/* Intervals begin at multiples of their length, counted by the time of day. */
static struct ir *gen_tseries(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"agg_tseries", "u64", "u64", "u64", "int"};
	static const uint32_t sizes[] = {sizeof(struct agg_tseries), 0, 0, 0, 0};
	const struct type *t = call->type;
	struct ir *v = gen_value(g, call_arg(call, 0)), *now, *interval, *at;

	now = gen_call(g, BPF_FUNC_ktime_get_boot_ns, 0);
	now = ir_binary(g->ir, IR_ADD, now, gen_wall_ns(g));
	interval = ir_binary(g->ir, IR_UDIV, now, ir_int(g->ir, t->agg.step));
	at = gen_below(g, ir_binary(g->ir, IR_UMOD, interval, ir_int(g->ir, t->agg.buckets)), t->agg.buckets);
	at = ir_binary(g->ir, IR_MUL, at, ir_int(g->ir, sizeof(struct agg_tseries)));
	gen_library(g, "tseries_add", params, sizes, (struct ir *[]){
		ir_index(g->ir, into, at), v, ir_binary(g->ir, IR_ADD, interval, ir_int(g->ir, 1)), now,
		ir_int(g->ir, (uint64_t)t->agg.series << 1 | t->is_signed)}, 5);
	return NULL;
}

const struct builtin builtins_agg[] = {
	{
		.name = "avg",
		.sig = "int -> special",
		.help = "average of the values",
		.flags = BUILTIN_AGG,
		.check = check_avg,
		.gen = gen_stats,
	},
	{
		.name = "count",
		.sig = " -> special",
		.help = "number of calls",
		.flags = BUILTIN_AGG,
		.check = check_count,
		.gen = gen_count,
	},
	{
		.name = "hist",
		.sig = "int [literal] -> special",
		.help = "histogram in powers of two, each split into 2^K parts if K is given",
		.flags = BUILTIN_AGG,
		.check = check_hist,
		.gen = gen_hist,
	},
	{
		.name = "lhist",
		.sig = "int literal literal literal -> special",
		.help = "linear histogram from MIN to MAX in steps",
		.flags = BUILTIN_AGG,
		.check = check_lhist,
		.gen = gen_lhist,
	},
	{
		.name = "max",
		.sig = "int -> special",
		.help = "largest of the values",
		.flags = BUILTIN_AGG,
		.check = check_max,
		.gen = gen_max,
	},
	{
		.name = "min",
		.sig = "int -> special",
		.help = "smallest of the values",
		.flags = BUILTIN_AGG,
		.check = check_min,
		.gen = gen_min,
	},
	{
		.name = "stats",
		.sig = "int -> special",
		.help = "count, average and total of the values",
		.flags = BUILTIN_AGG,
		.check = check_stats,
		.gen = gen_stats,
	},
	{
		.name = "sum",
		.sig = "int -> special",
		.help = "sum of the values",
		.flags = BUILTIN_AGG,
		.check = check_sum,
		.gen = gen_sum,
	},
	{
		.name = "tseries",
		.sig = "int literal literal [format] -> special",
		.help = "values over time: the last value, avg, max, min or sum in each of the last N intervals of "
			"LENGTH ns",
		.flags = BUILTIN_AGG,
		.check = check_tseries,
		.gen = gen_tseries,
	},
	BUILTINS_END,
};
