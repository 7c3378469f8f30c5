// SPDX-License-Identifier: Apache-2.0
/* gen_gate.c - conditions with has_frame() and names of containers. See gate.h. */
#include "gate.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/walk/match.h"
#include "gen.h"
#include "model/builtin.h"
#include "parser/check.h"

_Static_assert(IMAGE_PATTERNS_MAX == VERDICT_PATTERNS, "patterns of an image");

/* The truth table of each variable: bit i is bit k of i. */
static const uint64_t columns[GATE_VARS] = {
	0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00, 0xffff0000ffff0000,
	0xffffffff00000000,
};

static bool joins(const struct expr *n)
{
	return (n->kind == EXPR_BINOP && (n->op.op == OP_LAND || n->op.op == OP_LOR)) ||
		(n->kind == EXPR_UNOP && n->op.op == OP_NOT);
}

bool gate_is(const struct expr *n)
{
	if (joins(n))
		return gate_is(n->op.left) || (n->kind == EXPR_BINOP && gate_is(n->op.right));
	return n->type && type_is_late(n->type);
}

static bool changes(struct expr *n, void *unused)
{
	const unsigned flags = BUILTIN_STMT | BUILTIN_RECORD | BUILTIN_CHANGES | BUILTIN_UNSAFE;

	return n->kind == EXPR_BLOCK || (n->kind == EXPR_UNOP && n->op.op >= OP_PREINC) ||
		(n->kind == EXPR_CALL && (n->call.builtin == &builtin_c_call || n->call.builtin->flags & flags));
}

/* Returns whether the right side of an && or || may only be evaluated once the left side is decided. */
static bool waits(const struct expr *n)
{
	return n->kind == EXPR_BINOP && gate_is(n->op.left) && expr_any(n->op.right, changes, NULL);
}

bool gate_changes_late(const struct expr *n)
{
	if (!joins(n))
		return false;
	return waits(n) || gate_changes_late(n->op.left) || (n->kind == EXPR_BINOP && gate_changes_late(n->op.right));
}

/* ---- a program ---------------------------------------------------------- */

static bool has_gates(struct stmt *first);

/* Returns whether a block in the expressions has a condition. */
static bool has_inner_gates(struct expr *first)
{
	bool has = false;

	for (struct expr *n = first; n && !has; n = n->next) {
		struct expr *operands[EXPR_OPERANDS_MAX];

		has = n->kind == EXPR_BLOCK && has_gates(n->block.stmts);
		for (unsigned i = 0, most = expr_operands(n, operands); i < most && !has; i++)
			has = has_inner_gates(operands[i]);
	}
	return has;
}

static bool has_gates(struct stmt *first)
{
	bool has = false;

	for (struct stmt *n = first; n && !has; n = n->next) {
		struct expr **exprs[STMT_EXPRS_MAX];
		struct stmt **parts[STMT_STMTS_MAX];

		has = n->kind == STMT_IF && gate_is(n->cond.test);
		for (unsigned i = 0, most = stmt_exprs(n, exprs); i < most && !has; i++)
			has = has_inner_gates(*exprs[i]);
		for (unsigned i = 0, most = stmt_stmts(n, parts); i < most && !has; i++)
			has = has_gates(*parts[i]);
	}
	return has;
}

static bool add_walk(struct expr *n, void *arg)
{
	struct gen *g = arg;
	const struct type *t = n->type;

	if (n->kind != EXPR_CALL || !t || t->kind != TYPE_STACK || !(n->call.builtin->flags & BUILTIN_VAR))
		return false;
	if (g->nwalked < GATE_WALKS && !gate_walk_at(g, t))
		g->walked[g->nwalked++] = (struct gate_walk){
			.lang = t->stack.lang, .limit = t->stack.limit, .at = gen_mem_take(g, 24) + 8,
		};
	return false;
}

uint32_t gate_walk_at(const struct gen *g, const struct type *t)
{
	for (unsigned i = 0; i < g->nwalked; i++)
		if (g->walked[i].lang == t->stack.lang && g->walked[i].limit == t->stack.limit)
			return g->walked[i].at;
	return 0;
}

void gate_plan(struct gen *g)
{
	struct expr *predicate = g->predicate, *filter = g->opt->all_processes ? g->probe->filter : NULL;
	const struct stmt *hold = gate_find_hold(g);
	bool has_gate = (predicate && gate_is(predicate)) || (filter && gate_is(filter)) ||
		has_inner_gates(predicate) || has_gates(g->probe->body);

	g->gates = g->holds = false;
	g->unheld = NULL;
	g->nwalked = g->level = 0;
	if (!has_gate && !hold)
		return;
	if (g->provider->samples && g->opt->thin > 1)
		diag(g->opt->diags, g->probe->span, DIAG_CONTEXT,
			"config thin: a probe with has_frame(), hold() or names of containers cannot be thinned");
	g->gates = g->img->gates = g->img->problems = true;
	g->unheld = has_inner_gates(predicate) ? "the predicate has statements" :
		gate_cannot_hold(g, has_gate ? g->probe->body : hold->next);
	if (hold && g->unheld)
		diag(g->opt->diags, hold->span, DIAG_CONTEXT, "hold() cannot keep the effects of this probe: %s",
			g->unheld);
	g->holds = !g->unheld;
	g->levels_at = gen_mem_take(g, 8);
	if (!g->script->stack_lens && predicate)
		expr_any(predicate, add_walk, g);
	if (!g->script->stack_lens)
		stmt_any(g->probe->body, add_walk, g);
}

void gate_begin(struct gen *g)
{
	if (!g->gates)
		return;
	ir_store(g->ir, gen_mem_at(g, g->levels_at), 0, 8, ir_int(g->ir, 0));
	for (unsigned i = 0; i < g->nwalked; i++)
		gen_zero(g, gen_mem_at(g, g->walked[i].at - 8), 24);
}

struct ir *gen_levels(struct gen *g)
{
	return ir_load(g->ir, gen_mem_at(g, g->levels_at), 0, 8, false);
}

/* ---- a truth table ------------------------------------------------------- */

struct gate {
	struct image_gate *image;
	uint32_t at;    /* the struct gate_record in scratch memory */
	uint32_t id;    /* of its record */
	unsigned level; /* of the effects that depend on it */
	struct ir_block *maybe; /* where an event that is not decided continues */
};

/* The verdict about a stack that is walked once, where it is known. */
struct asked {
	uint32_t at; /* gate_walk_at(), or 0 */
	struct ir *verdict;
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_pattern(const struct frame_pattern *a, const struct frame_pattern *b)
{
	return same_text(a->func, b->func) && same_text(a->module, b->module) && a->container == b->container;
}

static const struct frame_pattern *pattern_of(struct gen *g, const struct expr *n)
{
	struct frame_pattern *p;

	if (type_is_has_frame(n->type))
		return n->type->frame.pattern;
	p = arena_new_obj(g->arena, struct frame_pattern);
	*p = (struct frame_pattern){.func = n->type->shown.format, .container = true};
	return p;
}

static unsigned pattern_number(struct gen *g, struct expr *n)
{
	const struct frame_pattern *p = pattern_of(g, n);
	struct image *img = g->img;

	for (unsigned i = 0; i < img->npatterns; i++)
		if (same_pattern(img->patterns[i], p))
			return i;
	if (img->npatterns == IMAGE_PATTERNS_MAX) {
		diag(g->opt->diags, n->span, DIAG_TOO_LARGE, "conditions of a script have at most %d patterns "
			"for has_frame() and names of containers", IMAGE_PATTERNS_MAX);
		return 0;
	}
	img->patterns[img->npatterns] = p;
	return img->npatterns++;
}

static struct ir *ask(struct gen *g, const char *function, struct ir *id)
{
	static const char *const params[] = {"u64"};

	return gen_library(g, function, params, NULL, &id, 1);
}

/* Returns gate_walk_at() of the condition's stack, or 0. */
static uint32_t walk_of(struct gen *g, struct expr *n)
{
	struct expr *stack = type_is_has_frame(n->type) && n->kind == EXPR_CALL ? call_arg(n, 0) : NULL;

	return stack && stack->kind == EXPR_CALL ? gate_walk_at(g, stack->type) : 0;
}

/* Returns the kernel's verdict about the stack or cgroup. It is looked up once for a stack that is walked once. */
static struct ir *verdict_of(struct gen *g, struct expr *n, struct ir *id)
{
	uint32_t at = walk_of(g, n);
	struct ir_block *first, *end;
	struct ir *known;

	if (!at)
		return ask(g, type_is_has_frame(n->type) ? "stack_verdict" : "cgroup_verdict", id);
	first = ir_block(g->ir, "look_up");
	end = ir_block(g->ir, "looked_up");
	known = ir_load(g->ir, gen_mem_at(g, at), 8, 8, false);
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, known, ir_int(g->ir, 0)), first, end);
	ir_at(g->ir, first);
	ir_store(g->ir, gen_mem_at(g, at), 8, 8, ask(g, "stack_verdict", id));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, gen_mem_at(g, at), 8, 8, false);
}

static struct ir *variable(struct gen *g, struct gate *gate, struct expr *n)
{
	unsigned k = gate->image->n, pattern = pattern_number(g, n);
	struct ir *id = gen_value(g, n), *verdict, *unknown, *known;

	if (k == GATE_VARS) {
		diag(g->opt->diags, n->span, DIAG_TOO_LARGE, "a condition has at most %d has_frame() and names of "
			"containers", GATE_VARS);
		return ir_int(g->ir, 0);
	}
	gate->image->patterns[gate->image->n++] = (uint8_t)pattern;
	ir_store(g->ir, gen_mem_at(g, gate->at), offsetof(struct gate_record, ids) + 8 * k, 8, id);
	verdict = verdict_of(g, n, id);
	known = ir_binary(g->ir, IR_AND, ir_binary(g->ir, IR_LSHR, verdict, ir_int(g->ir, pattern)), ir_int(g->ir, 1));
	known = ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), known);
	unknown = ir_binary(g->ir, IR_AND, verdict, ir_int(g->ir, VERDICT_UNKNOWN | VERDICT_PARTIAL));
	return ir_select(g->ir, ir_compare(g->ir, IR_NE, unknown, ir_int(g->ir, 0)),
		ir_binary(g->ir, IR_OR, known, ir_int(g->ir, columns[k])), known);
}

/* Returns the truth table of a condition. What follows && and || is not evaluated if the left side decides. If it
 * changes something, it waits for the left side: an event without a verdict continues at maybe. */
static struct ir *table_of(struct gen *g, struct gate *gate, struct expr *n)
{
	struct ir_block *second, *end, *from_left, *from_right, *decided;
	struct ir *left, *right, *decides;
	bool is_and;

	if (!gate_is(n))
		return ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), gen_truth(g, n));
	if (!joins(n))
		return variable(g, gate, n);
	left = table_of(g, gate, n->op.left);
	if (n->kind == EXPR_UNOP)
		return ir_binary(g->ir, IR_XOR, left, ir_int(g->ir, UINT64_MAX));
	is_and = n->op.op == OP_LAND;
	second = ir_block(g->ir, "second");
	end = ir_block(g->ir, "table");
	decides = ir_int(g->ir, is_and ? 0 : UINT64_MAX);
	from_left = ir_here(g->ir);
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, left, decides), end, second);
	ir_at(g->ir, second);
	if (waits(n)) {
		decided = ir_block(g->ir, "decided");
		ir_branch(g->ir, ir_compare(g->ir, IR_EQ, left, ir_int(g->ir, is_and ? UINT64_MAX : 0)), decided,
			gate->maybe);
		ir_at(g->ir, decided);
	}
	right = table_of(g, gate, n->op.right);
	right = ir_binary(g->ir, is_and ? IR_AND : IR_OR, left, right);
	from_right = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, left, from_left, right, from_right);
}

/* ---- a condition --------------------------------------------------------- */

static void new_gate(struct gen *g, struct gate *gate, const struct expr *condition)
{
	struct image_record *r = gen_record_new(g, "gate", condition->span), *count;
	uint32_t number = (uint32_t)(r - g->img->records), counter;

	*gate = (struct gate){.image = arena_new_obj(g->arena, struct image_gate), .level = g->level};
	gate->id = image_record_id(g->img->number, number);
	r->size = sizeof(struct gate_record);
	r->gate = gate->image;
	gate->at = gen_mem_take(g, sizeof(struct gate_record));
	gen_zero(g, gen_mem_at(g, gate->at), sizeof(struct gate_record));
	count = gen_record_new(g, "problem", condition->span); /* may move r */
	counter = (uint32_t)(count - g->img->records);
	count->problem = PROBLEM_UNDECIDED;
	count->size = sizeof(struct record);
	count->text = g->unheld;
	gate->image->undecided = counter;
}

/* Sends the condition, which depends on the conditions around it. The result is 0 if there was space for it. */
static struct ir *output(struct gen *g, const struct gate *gate, unsigned level, struct ir *table)
{
	struct ir *mem = gen_mem_at(g, gate->at), *others;

	gen_record_head(g, mem, gate->id);
	if (g->holds) {
		others = ir_int(g->ir, ~(256u << gate->level)); /* see RECORD_LEVELS */
		ir_store(g->ir, mem, 0, 4, ir_binary(g->ir, IR_AND, ir_load(g->ir, mem, 0, 4, false), others));
	}
	ir_store(g->ir, mem, offsetof(struct gate_record, table), 8, table);
	ir_store(g->ir, mem, offsetof(struct gate_record, slot), 4, gen_slot(g));
	ir_store(g->ir, mem, offsetof(struct gate_record, level), 4, ir_int(g->ir, level));
	return gen_output(g, mem, ir_int(g->ir, sizeof(struct gate_record)));
}

/* Sends the condition. Continues at sent or, if the event is lost, at lost. */
static void send(struct gen *g, const struct gate *gate, unsigned level, struct ir *table, struct ir_block *sent,
	struct ir_block *lost)
{
	struct ir_block *full = ir_block(g->ir, "full");
	struct ir *result = output(g, gate, level, table);

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, result, ir_int(g->ir, 0)), sent, full);
	ir_at(g->ir, full);
	gen_lost_event(g, result);
	ir_jump(g->ir, lost);
}

/* Counts the event, and asks userspace about its stacks, for the next event. The table is not needed. A question for
 * which there is no space is no lost event: a later event of the stack asks again. */
static void count_undecided(struct gen *g, const struct gate *gate, struct ir_block *out)
{
	static const char *const params[] = {"int"};
	struct ir *count = ir_int(g->ir, image_record_id(g->img->number, gate->image->undecided));

	gen_library(g, "count_problem", params, NULL, &count, 1);
	output(g, gate, GATE_ASKS, ir_int(g->ir, 0));
	ir_jump(g->ir, out);
}

static void set_levels(struct gen *g, enum ir_op op, uint64_t bits)
{
	ir_store(g->ir, gen_mem_at(g, g->levels_at), 0, 8,
		ir_binary(g->ir, op, gen_levels(g), ir_int(g->ir, bits)));
}

/* From here on, userspace holds the records. */
void gate_hold(struct gen *g, struct expr *call)
{
	gen_record_send_or_leave(g, gen_record_new(g, "hold", call->span), call->call.args);
	set_levels(g, IR_OR, 1ULL << HOLD_LEVEL);
}

/* Sends the condition: from here on, records depend on it. A lost event continues at lost. */
static void hold(struct gen *g, const struct gate *gate, struct ir *table, struct ir_block *lost)
{
	struct ir_block *held = ir_block(g->ir, "held");

	assert(gate->level < GATE_LEVELS);
	send(g, gate, gate->level, table, held, lost);
	ir_at(g->ir, held);
	set_levels(g, IR_OR, 1ULL << gate->level);
}

/* ---- without a truth table ------------------------------------------------ */

/* Continues at yes or no, or at slow if there is no verdict. asked is a verdict that is known here. */
static void quick_variable(struct gen *g, struct expr *n, struct asked *asked, struct ir_block *yes,
	struct ir_block *no, struct ir_block *slow)
{
	struct ir_block *decided = ir_block(g->ir, "decided");
	unsigned pattern = pattern_number(g, n);
	uint32_t at = walk_of(g, n);
	struct ir *verdict, *bits;

	verdict = at && at == asked->at ? asked->verdict : verdict_of(g, n, gen_value(g, n));
	if (at)
		*asked = (struct asked){.at = at, .verdict = verdict};
	bits = ir_binary(g->ir, IR_AND, verdict, ir_int(g->ir, VERDICT_UNKNOWN | VERDICT_PARTIAL));
	ir_branch(g->ir, ir_compare(g->ir, IR_NE, bits, ir_int(g->ir, 0)), slow, decided);
	ir_at(g->ir, decided);
	bits = ir_binary(g->ir, IR_AND, verdict, ir_int(g->ir, 1ULL << pattern));
	ir_branch(g->ir, ir_compare(g->ir, IR_NE, bits, ir_int(g->ir, 0)), yes, no);
}

/* Generates a condition for events whose verdicts are all known: most events. The left side of an && or || is always
 * evaluated, so the right side knows the left side's verdict. What follows does not know the right side's. */
static void quick(struct gen *g, struct expr *n, struct asked *asked, struct ir_block *yes, struct ir_block *no,
	struct ir_block *slow)
{
	struct asked in_right;
	struct ir_block *right;

	if (!gate_is(n)) {
		ir_branch(g->ir, ir_compare(g->ir, IR_NE, gen_truth(g, n), ir_int(g->ir, 0)), yes, no);
	} else if (!joins(n)) {
		quick_variable(g, n, asked, yes, no, slow);
	} else if (n->kind == EXPR_UNOP) {
		quick(g, n->op.left, asked, no, yes, slow);
	} else {
		right = ir_block(g->ir, "right");
		if (n->op.op == OP_LAND)
			quick(g, n->op.left, asked, right, no, slow);
		else
			quick(g, n->op.left, asked, yes, right, slow);
		ir_at(g->ir, right);
		in_right = *asked;
		quick(g, n->op.right, &in_right, yes, no, slow);
	}
}

/* Generates a condition: continues at yes or no, or, if it is not decided, at maybe. Returns the table, for events
 * that are held. A condition that changes something is evaluated only once. */
static struct ir *decide(struct gen *g, struct gate *gate, struct expr *condition, struct ir_block *yes,
	struct ir_block *no, struct ir_block *maybe)
{
	struct ir_block *other = ir_block(g->ir, "not_yes"), *slow = ir_block(g->ir, "slow");
	struct asked asked = {0};
	struct ir *table;

	if (expr_any(condition, changes, NULL))
		ir_jump(g->ir, slow);
	else
		quick(g, condition, &asked, yes, no, slow);
	ir_at(g->ir, slow);
	new_gate(g, gate, condition);
	gate->maybe = maybe;
	table = table_of(g, gate, condition);
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, table, ir_int(g->ir, UINT64_MAX)), yes, other);
	ir_at(g->ir, other);
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, table, ir_int(g->ir, 0)), no, maybe);
	ir_at(g->ir, maybe);
	return table;
}

void gate_predicate(struct gen *g, struct expr *predicate)
{
	struct ir_block *pass = ir_block(g->ir, "pass"), *maybe = ir_block(g->ir, "maybe");
	struct gate gate;
	struct ir *table;

	table = decide(g, &gate, predicate, pass, g->fn.leave, maybe);
	if (g->holds) {
		hold(g, &gate, table, g->fn.leave);
		g->level++;
		ir_jump(g->ir, pass);
	} else {
		count_undecided(g, &gate, g->fn.leave);
	}
	ir_at(g->ir, pass);
}

/* After the branch of an undecided event comes its other branch, which depends on the opposite. */
static void other_branch(struct gen *g, const struct gate *gate, struct stmt *els, struct ir_block *otherwise,
	struct ir_block *end)
{
	struct ir_block *maybe = ir_block(g->ir, "opposite"), *lost = ir_block(g->ir, "half");
	struct ir *bit = ir_binary(g->ir, IR_AND, gen_levels(g), ir_int(g->ir, 1ULL << gate->level)), *table;

	ir_branch(g->ir, ir_compare(g->ir, IR_NE, bit, ir_int(g->ir, 0)), maybe, end);
	ir_at(g->ir, maybe);
	table = ir_load(g->ir, gen_mem_at(g, gate->at), offsetof(struct gate_record, table), 8, false);
	table = ir_binary(g->ir, IR_XOR, table, ir_int(g->ir, UINT64_MAX));
	send(g, gate, gate->level | GATE_OPPOSITE, table, otherwise, lost);
	ir_at(g->ir, lost);
	ir_jump(g->ir, end);
	ir_at(g->ir, otherwise);
	gen_stmts(g, els);
	ir_jump(g->ir, end);
}

void gate_if(struct gen *g, struct stmt *n)
{
	struct ir_block *then = ir_block(g->ir, "then"), *els = ir_block(g->ir, "else");
	struct ir_block *end = ir_block(g->ir, "endif"), *maybe = ir_block(g->ir, "maybe");
	struct gate gate;
	struct ir *table;

	table = decide(g, &gate, n->cond.test, then, n->cond.els ? els : end, maybe);
	if (g->holds) {
		hold(g, &gate, table, end);
		ir_jump(g->ir, then);
	} else {
		count_undecided(g, &gate, end);
	}
	g->level++;
	ir_at(g->ir, then);
	gen_stmts(g, n->cond.then);
	if (g->holds && n->cond.els) {
		other_branch(g, &gate, n->cond.els, els, end);
	} else {
		ir_jump(g->ir, end);
		ir_at(g->ir, els);
		gen_stmts(g, n->cond.els);
		ir_jump(g->ir, end);
	}
	g->level--;
	ir_at(g->ir, end);
	if (g->holds)
		set_levels(g, IR_AND, ~(1ULL << gate.level));
}

struct ir *gate_value(struct gen *g, struct expr *condition)
{
	struct ir_block *yes = ir_block(g->ir, "yes"), *no = ir_block(g->ir, "no"), *maybe = ir_block(g->ir, "maybe");
	struct ir_block *end = ir_block(g->ir, "truth");
	struct gate gate;

	if (!gate_is(condition))
		return gen_truth(g, condition);
	decide(g, &gate, condition, yes, no, maybe);
	count_undecided(g, &gate, no);
	ir_at(g->ir, yes);
	ir_jump(g->ir, end);
	ir_at(g->ir, no);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, ir_int(g->ir, 1), yes, ir_int(g->ir, 0), no);
}
