// SPDX-License-Identifier: Apache-2.0
/* gen_hold.c - effects of events that are not decided: which of them can wait, and updates of maps, which become
 * records that userspace gives to a program. See gate.h.
 *
 * An effect can wait if no program depends on it: output, and aggregations that no program reads. */
#include <linux/bpf.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/walk/match.h"
#include "gate.h"
#include "gen.h"
#include "model/attach_point.h"
#include "model/builtin.h"

/* ---- effects that can wait ---------------------------------------------- */

struct scan {
	struct gen *g;
	unsigned level;    /* number of conditions around the statements, without the predicate */
	bool predicate;    /* the predicate is such a condition, too */
	struct span inner; /* the condition's statement; the whole probe at level 0 */
	const char *why;
};

static const char *because(struct scan *s, const char *fmt, const char *name)
{
	s->why = s->why ? s->why : arena_printf(s->g->arena, fmt, name);
	return s->why;
}

/* A variable that outlives the branch. */
static void check_variable(struct scan *s, const struct expr *n)
{
	const struct var *v = n->var.var;

	if (s->level && (v->first.start < s->inner.start || v->first.start >= s->inner.end))
		because(s, "$%s is used after it", v->name);
}

static bool cannot_wait(struct expr *n, void *arg)
{
	struct scan *s = arg;
	unsigned flags = n->kind == EXPR_CALL ? n->call.builtin->flags : 0;

	if (n->kind == EXPR_BLOCK)
		because(s, "an expression has statements%s", "");
	else if (n->kind == EXPR_UNOP && n->op.op >= OP_PREINC && n->op.left->kind == EXPR_MAP)
		because(s, "@%s is changed in place", n->op.left->map.name);
	else if (n->kind == EXPR_UNOP && n->op.op >= OP_PREINC)
		check_variable(s, n->op.left);
	else if (n->kind == EXPR_CALL && n->call.builtin == &builtin_c_call)
		because(s, "it calls %s()", n->call.name);
	else if (flags & BUILTIN_CHANGES || (flags & (BUILTIN_STMT | BUILTIN_UNSAFE) && !(flags & BUILTIN_RECORD)))
		because(s, "%s() cannot wait", n->call.name);
	return s->why != NULL;
}

static void check_assignment(struct scan *s, struct stmt *n)
{
	const struct expr *left = n->assign.left;
	const struct map *m = left->kind == EXPR_MAP ? left->map.map : NULL;

	if (!m)
		check_variable(s, left);
	else if (m->value->kind != TYPE_AGG)
		because(s, "@%s is not an aggregation", m->name);
	else if (m->value->agg.kind == AGG_TSERIES)
		because(s, "@%s depends on the time", m->name);
	else if (script_reads_map(s->g->script, m, NULL))
		because(s, "a program reads @%s", m->name);
}

static void check_condition(struct scan *s, const struct expr *condition)
{
	if (gate_changes_late(condition))
		because(s, "its condition changes something%s", "");
}

static void scan_stmts(struct scan *s, struct stmt *first);

static void scan_if(struct scan *s, struct stmt *n)
{
	struct scan in = *s;
	bool is_gate = gate_is(n->cond.test);

	check_condition(&in, n->cond.test);
	in.level += is_gate;
	if (is_gate)
		in.inner = n->span;
	if (in.level + in.predicate > GATE_LEVELS)
		because(&in, "it is nested too deeply%s", "");
	scan_stmts(&in, n->cond.then);
	scan_stmts(&in, n->cond.els);
	s->why = in.why;
}

static bool leaves(const struct stmt *n)
{
	return n->kind == STMT_RETURN || n->kind == STMT_BREAK || n->kind == STMT_CONTINUE;
}

static bool is_exit(struct expr *n, void *arg)
{
	return n->kind == EXPR_CALL && n->call.builtin->flags & BUILTIN_LEAVES;
}

static void scan_stmt(struct scan *s, struct stmt *n)
{
	struct expr **exprs[STMT_EXPRS_MAX];
	struct stmt **parts[STMT_STMTS_MAX];

	for (unsigned i = 0, most = stmt_exprs(n, exprs); i < most; i++) {
		expr_any(*exprs[i], cannot_wait, s);
		if (s->level && expr_any(*exprs[i], is_exit, NULL))
			because(s, "%s() ends the program", "exit");
	}
	if (s->level && leaves(n))
		because(s, "%s leaves it", stmt_kind_name(n->kind));
	if (n->kind == STMT_ASSIGN)
		check_assignment(s, n);
	if (n->kind == STMT_IF) {
		scan_if(s, n);
		return;
	}
	for (unsigned i = 0, most = stmt_stmts(n, parts); i < most; i++)
		scan_stmts(s, *parts[i]);
}

static void scan_stmts(struct scan *s, struct stmt *first)
{
	for (struct stmt *n = first; n && !s->why; n = n->next)
		scan_stmt(s, n);
}

static bool is_hold(struct expr *n, void *arg)
{
	unsigned *holds = arg;

	*holds += n->kind == EXPR_CALL && n->call.builtin->flags & BUILTIN_HOLDS;
	return false;
}

/* Blocks in the list are parts of it. */
static const struct stmt *first_hold(const struct stmt *first)
{
	const struct stmt *found = NULL;

	for (const struct stmt *n = first; n && !found; n = n->next) {
		if (n->kind == STMT_BLOCK)
			found = first_hold(n->stmts);
		else if (n->kind == STMT_EXPR && n->expr->kind == EXPR_CALL &&
			n->expr->call.builtin->flags & BUILTIN_HOLDS)
			found = n;
	}
	return found;
}

const struct stmt *gate_find_hold(struct gen *g)
{
	const struct stmt *found = first_hold(g->probe->body);
	unsigned all = 0;

	stmt_any(g->probe->body, is_hold, &all);
	if (all > (found != NULL)) {
		diag(g->opt->diags, found ? found->span : g->probe->span, DIAG_CONTEXT,
			found ? "a probe has one hold()" : "hold() stands among the statements of the probe itself, "
			"not within an if or a loop");
		diag_hint(g->opt->diags, "a predicate selects the events that are held");
	}
	return found;
}

const char *gate_cannot_hold(struct gen *g, struct stmt *first)
{
	struct scan s = {.g = g, .inner = g->probe->span};

	if (g->opt->no_loops)
		because(&s, "the kernel is too old%s", "");
	if (g->predicate) {
		s.predicate = gate_is(g->predicate);
		check_condition(&s, g->predicate);
	}
	scan_stmts(&s, first);
	return s.why;
}

/* ---- updates of maps ----------------------------------------------------- */

/* An update that a program of its own makes. */
struct gen_apply {
	struct map *map;
	struct expr *call; /* the aggregation */
	struct span span;
	struct gen_apply *next;
};

static uint32_t key_bytes(const struct map *m)
{
	return m->key ? (m->key->size + 7) & ~7u : 8;
}

static struct image_record *new_apply(struct gen *g, struct stmt *n, uint32_t size)
{
	struct image_record *failed = gen_record_new(g, "problem", n->span), *r;
	struct gen_apply *a = arena_new_obj(g->arena, struct gen_apply);
	uint32_t number = (uint32_t)(failed - g->img->records);

	failed->problem = PROBLEM_APPLY;
	failed->size = sizeof(struct record);
	r = gen_record_new(g, "apply", n->span);
	r->failed = number;
	*a = (struct gen_apply){n->assign.left->map.map, n->assign.right, n->span, g->applies};
	g->applies = a;
	r->map = a->map->index;
	r->apply = g->img->napplies++;
	r->size = size;
	if (g->img->apply_size < size)
		g->img->apply_size = size;
	return r;
}

static void send_update(struct gen *g, struct stmt *n)
{
	struct map *m = n->assign.left->map.map;
	struct expr *arg = n->assign.right->call.args;
	uint32_t size = sizeof(struct apply_record) + key_bytes(m);
	struct image_record *r = new_apply(g, n, size);
	uint32_t at = gen_mem_take(g, size), id = gen_record_id(g, r);
	struct ir *key;

	gen_zero(g, gen_mem_at(g, at), size);
	if (arg)
		ir_store(g->ir, gen_mem_at(g, at), offsetof(struct apply_record, value), 8, gen_value(g, arg));
	key = gen_key(g, m, n->assign.left->map.keys);
	gen_copy(g, ir_offset(g->ir, gen_mem_at(g, at), sizeof(struct apply_record)), key, m->key ? m->key->size : 4);
	gen_record_head(g, gen_mem_at(g, at), id);
	gen_lost_event(g, gen_output(g, gen_mem_at(g, at), ir_int(g->ir, size)));
}

void gate_hold_agg(struct gen *g, struct stmt *n, void (*direct)(struct gen *g, struct stmt *n))
{
	struct ir_block *held = ir_block(g->ir, "held"), *now = ir_block(g->ir, "now");
	struct ir_block *end = ir_block(g->ir, "updated");

	ir_branch(g->ir, ir_compare(g->ir, IR_NE, gen_levels(g), ir_int(g->ir, 0)), held, now);
	ir_at(g->ir, held);
	send_update(g, n);
	ir_jump(g->ir, end);
	ir_at(g->ir, now);
	direct(g, n);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

/* ---- programs ------------------------------------------------------------ */

static struct ir *input(struct gen *g)
{
	const struct ir_map m = {
		.name = APPLY_INPUT,
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = g->img->apply_size,
		.max_entries = 1,
	};

	return ir_map(g->ir, &m);
}

/* Repeats the aggregation, with the value in the record as its argument. */
static struct ir *gen_apply_update(struct gen *g, struct expr *call, struct ir *into)
{
	const struct gen_apply *a = call->call.data;
	struct ir_block *found = ir_block(g->ir, "input");
	struct ir *zero = gen_tmp(g, 8), *record;
	struct expr update = *a->call, value = {.kind = EXPR_VAR};
	struct var v = {.slot = gen_local(g)};

	ir_store(g->ir, zero, 0, 8, ir_int(g->ir, 0));
	record = gen_lookup(g, input(g), zero);
	ir_branch(g->ir, ir_is_null(g->ir, record), g->fn.leave, found);
	ir_at(g->ir, found);
	if (update.call.args) {
		v.type = update.call.args->type;
		value.type = v.type;
		value.var.var = &v;
		value.next = update.call.args->next;
		update.call.args = &value;
		gen_put(g, ir_load(g->ir, record, offsetof(struct apply_record, value), 8, false), v.type, v.type,
			v.slot, 0);
	}
	gen_agg_update(g, a->map, ir_offset(g->ir, record, sizeof(struct apply_record)), &update);
	return NULL;
}

static const struct builtin apply_update = {
	.name = "apply",
	.sig = " -> none",
	.help = "make an update of a held event",
	.gen = gen_apply_update,
};

static const struct provider apply_provider = {
	.name = "apply",
	.ctx = CTX_NONE,
	.section = "raw_tp",
	.run = RUN_END,
};

static void add_program(struct gen *g, struct gen_apply *a, unsigned number)
{
	struct attach_point *points = arena_new_obj(g->arena, struct attach_point);
	struct expr *call = arena_new_obj(g->arena, struct expr);
	struct stmt *body = arena_new_obj(g->arena, struct stmt);
	struct probe *p = arena_new_obj(g->arena, struct probe);

	*call = (struct expr){.kind = EXPR_CALL, .span = a->span, .type = type_none};
	call->call.builtin = &apply_update;
	call->call.data = a;
	*body = (struct stmt){.kind = STMT_EXPR, .span = a->span, .expr = call};
	points->span = a->span;
	*p = (struct probe){.span = a->span, .points = points, .body = body};
	g->probe = p;
	g->provider = &apply_provider;
	gen_program_add(g, arena_printf(g->arena, APPLY_PROGRAM, number), a->span);
}

void gate_applies(struct gen *g)
{
	unsigned number = g->img->napplies;

	for (struct gen_apply *a = g->applies; a; a = a->next)
		add_program(g, a, --number);
}
