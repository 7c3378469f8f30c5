// SPDX-License-Identifier: Apache-2.0
/* check_thin.c - config thin. Profile probes run once in N of their periods. In a script without them, probes of events
 * run for one event in N, if a run can count for N: their only effects are aggregations by which no event decides.
 * Others, such as those that keep the time of a start in a map, run for all events. */
#include "checker.h"
#include "model/attach_point.h"

static bool is_event(const struct provider *p)
{
	return p && p->run == RUN_ATTACHED && !p->any_process && !p->samples;
}

bool thin_event(const struct probe *p, const struct provider *provider)
{
	return p->thins && is_event(provider);
}

bool probe_samples(const struct probe *p)
{
	for (const struct attach_point *ap = p->points; ap; ap = ap->next)
		if (ap->provider && ap->provider->samples)
			return true;
	return false;
}

static bool has_event(const struct probe *p)
{
	for (const struct attach_point *ap = p->points; ap; ap = ap->next)
		if (is_event(ap->provider))
			return true;
	return false;
}

/* ---- effects ------------------------------------------------------------- */

/* min() and max() are those of all events, which fewer events may not have. */
static bool can_be_weighted(const struct type *t)
{
	static const bool can[] = {
		[AGG_COUNT] = true, [AGG_SUM] = true, [AGG_AVG] = true, [AGG_STATS] = true, [AGG_HIST] = true,
		[AGG_LHIST] = true, [AGG_TSERIES] = false,
	};

	return t && t->kind == TYPE_AGG && can[t->agg.kind];
}

static bool has_effect(struct expr *n, void *arg)
{
	const struct check *c = arg;
	const unsigned flags = BUILTIN_STMT | BUILTIN_RECORD | BUILTIN_CHANGES | BUILTIN_UNSAFE | BUILTIN_HOLDS;

	if (n->kind == EXPR_CALL && n->call.builtin)
		return n->call.builtin == c->lang->c_call || n->call.builtin->flags & flags;
	if (n->kind == EXPR_UNOP && n->op.op >= OP_PREINC)
		return n->op.left->kind != EXPR_VAR;
	return n->kind == EXPR_BLOCK || (n->type && type_is_late(n->type));
}

static bool adds(const struct check *c, const struct stmt *n)
{
	const struct map *m = n->assign.left->kind == EXPR_MAP ? n->assign.left->map.map : NULL;

	if (!m)
		return n->assign.left->kind == EXPR_VAR;
	return n->assign.op == OP_NONE && n->assign.right->kind == EXPR_CALL && can_be_weighted(m->value) &&
		!script_reads_map(c->script, m, has_event); /* its result would depend on left-out events */
}

/* Returns whether the statements have no effects but aggregations that can be weighted. */
static bool only_add(struct check *c, struct stmt *first)
{
	bool ok = true;

	for (struct stmt *n = first; n && ok; n = n->next) {
		struct expr **exprs[STMT_EXPRS_MAX];
		struct stmt **parts[STMT_STMTS_MAX];

		ok = n->kind != STMT_FOR_MAP && (n->kind != STMT_ASSIGN || adds(c, n));
		for (unsigned i = 0, most = stmt_exprs(n, exprs); i < most && ok; i++)
			ok = !expr_any(*exprs[i], has_effect, c);
		for (unsigned i = 0, most = stmt_stmts(n, parts); i < most && ok; i++)
			ok = only_add(c, *parts[i]);
	}
	return ok;
}

/* ---- the script ---------------------------------------------------------- */

static bool can_thin(struct check *c, const struct probe *p)
{
	return has_event(p) && !expr_any(p->predicate, has_effect, c) && only_add(c, p->body);
}

void check_thin_map(struct check *c, const struct map *m, struct span at)
{
	if (c->req->settings.thin > 1 && c->probe && probe_samples(c->probe))
		check_fail(c, at, DIAG_AGGREGATION,
			"config thin: @%s would lack the runs that are left out: use count(), sum(), avg(), stats(), "
			"hist() or lhist()", m->name);
}

/* Reports a function that does something in each run. */
static bool report_effect(struct expr *n, void *arg)
{
	const unsigned flags = BUILTIN_RECORD | BUILTIN_CHANGES | BUILTIN_UNSAFE;
	bool does = n->kind == EXPR_CALL && n->call.builtin && n->call.builtin->flags & flags &&
		!(n->call.builtin->flags & (BUILTIN_LEAVES | BUILTIN_HOLDS));

	if (does)
		check_fail(arg, n->span, DIAG_CONFIG, "config thin: %s() would lack the runs that are left out",
			n->call.name);
	return does;
}

void check_thinned(struct check *c)
{
	bool samples = false, events = false;

	if (c->req->settings.thin <= 1 || !c->script->probes)
		return;
	for (const struct probe *p = c->script->probes; p; p = p->next)
		if (probe_samples(p)) {
			samples = true;
			stmt_any(p->body, report_effect, c);
		}
	for (struct probe *p = c->script->probes; p && !samples; p = p->next) {
		p->thins = can_thin(c, p);
		events |= p->thins;
	}
	if (!samples && !events)
		check_fail(c, c->script->probes->points->span, DIAG_CONFIG,
			"config thin needs a profile probe, or a probe of events that only has count(), sum(), avg(), "
			"stats(), hist() or lhist()");
}
