// SPDX-License-Identifier: Apache-2.0
/* check.c - gives types to expressions. A map may be read before the line that gives it its type, so the
 * script is checked in rounds without errors until no round learns anything new. A last round reports the
 * errors. */
#include "check.h"

#include <stdarg.h>

#include "base/arena.h"
#include "base/diag.h"
#include "builtin_names.h"
#include "checker.h"
#include "model/attach_point.h"
#include "model/provider.h"

/* ---- errors ---- */

const struct type *check_fail(
	struct check *c, struct span at, enum diag_tag tag, const char *fmt, ...)
{
	va_list ap;

	if (!c->final)
		return type_bad;
	c->ok = false;
	va_start(ap, fmt);
	diag(c->req->diags, at, tag, "%s", arena_vprintf(c->arena, fmt, ap));
	va_end(ap);
	return type_bad;
}

void check_warn(struct check *c, struct span at, enum diag_tag tag, const char *fmt, ...)
{
	va_list ap;

	if (!c->final)
		return;
	va_start(ap, fmt);
	diag_warn(c->req->diags, at, tag, "%s", arena_vprintf(c->arena, fmt, ap));
	va_end(ap);
}

void check_note(struct check *c, struct span at, const char *fmt, ...)
{
	va_list ap;

	if (!c->final)
		return;
	va_start(ap, fmt);
	diag_note(c->req->diags, at, "%s", arena_vprintf(c->arena, fmt, ap));
	va_end(ap);
}

void check_hint(struct check *c, const char *fmt, ...)
{
	va_list ap;

	if (!c->final)
		return;
	va_start(ap, fmt);
	diag_hint(c->req->diags, "%s", arena_vprintf(c->arena, fmt, ap));
	va_end(ap);
}

/* ---- functions for the rows of builtins ---- */

struct arena *check_arena(struct check *c)
{
	return c->arena;
}

struct script *check_script(struct check *c)
{
	return c->script;
}

struct probe *check_probe(struct check *c)
{
	return c->probe;
}

const struct request *check_request(struct check *c)
{
	return c->req;
}

bool check_is_last(const struct check *c)
{
	return c->final;
}

void check_again(struct check *c)
{
	c->changed = true;
}

struct expr *call_arg(const struct expr *call, unsigned i)
{
	struct expr *arg = call->call.args;

	while (arg && i--)
		arg = arg->next;
	return arg;
}

bool expr_is_const(const struct expr *n, int64_t *ret_value)
{
	if (n->kind == EXPR_SIZEOF)
		*ret_value = n->size.bytes;
	else if (n->kind == EXPR_OFFSETOF)
		*ret_value = n->offset.bytes;
	else if (n->kind == EXPR_INT)
		*ret_value = (int64_t)n->integer.value;
	else
		return false;
	return true;
}

bool expr_param_as_string(struct check *c, struct expr *n)
{
	const char *text = n->kind == EXPR_INT ? n->integer.param : NULL;

	if (!text)
		return n->kind == EXPR_STRING;
	n->kind = EXPR_STRING;
	n->string.text = text;
	n->string.len = 0;
	while (text[n->string.len])
		n->string.len++;
	n->type = type_string(c->arena, n->string.len + 1);
	return true;
}

/* ---- statements ---- */

/* Returns whether the expression has an effect, which a statement needs. */
static bool does_something(const struct expr *n)
{
	if (n->kind == EXPR_CALL)
		return !n->call.builtin || !(n->call.builtin->flags & BUILTIN_VAR);
	if (n->kind == EXPR_UNOP)
		return n->op.op >= OP_PREINC;
	if (n->kind == EXPR_BLOCK)
		return n->block.stmts;
	return n->kind == EXPR_TERNARY &&
	       ((n->cond.then && does_something(n->cond.then)) || does_something(n->cond.els));
}

static bool has_value(struct check *c, struct expr *n)
{
	return n->kind == EXPR_MAP || (check_expr(c, n)->kind != TYPE_BAD && n->type->kind != TYPE_NONE);
}

/* Turns `e` at a prompt into print(e). */
static void show_value(struct check *c, struct stmt *n)
{
	struct expr *call = arena_new_obj(c->arena, struct expr);

	n->shows = false;
	n->asked = true;
	*call = (struct expr){.kind = EXPR_CALL, .span = n->span, .depth = n->expr->depth + 1};
	call->call.name = "print";
	call->call.args = n->expr;
	call->call.nargs = 1;
	call->call.parens = true;
	call->call.builtin = builtin_find(c->lang, "print");
	n->expr = call;
}

static void check_expr_stmt(struct check *c, struct stmt *n)
{
	const struct type *t;

	if (n->shows && has_value(c, n->expr))
		show_value(c, n);
	t = check_expr(c, n->expr);
	if (t->kind != TYPE_BAD && !n->discard && !does_something(n->expr)) {
		check_warn(c, n->span, DIAG_UNUSED, "this value is not used");
		if (n->expr->kind == EXPR_BINOP && n->expr->op.op == OP_EQ)
			check_hint(c, "= assigns, == compares");
	}
}

static void check_body(struct check *c, struct stmt *body)
{
	c->loops++;
	check_stmts(c, body);
	c->loops--;
}

static void check_unroll(struct check *c, struct stmt *n)
{
	const struct type *t = check_value(c, n->loop.from);
	int64_t count;

	if (t->kind == TYPE_BAD)
		;
	else if (!expr_is_const(n->loop.from, &count))
		check_fail(c, n->loop.from->span, DIAG_LOOP,
			"unroll needs a constant number of rounds");
	else if (count < 1 || count > 100)
		check_fail(c, n->loop.from->span, DIAG_LOOP,
			"unroll repeats 1 to 100 times, not %lld", (long long)count);
	check_body(c, n->loop.body);
}

static void check_bound(struct check *c, struct expr *n)
{
	const struct type *t = check_value(c, n);

	if (t->kind != TYPE_BAD && t->kind != TYPE_INT)
		check_fail(c, n->span, DIAG_LOOP,
			"the ends of a range must be integers, not %s",
			check_type_name(c, t));
}

static void check_for(struct check *c, struct stmt *n)
{
	bool weak;

	check_bound(c, n->loop.from);
	check_bound(c, n->loop.to);
	weak = type_is_weak(n->loop.from->type) && type_is_weak(n->loop.to->type);
	check_var_write(c, n->loop.var, n->loop.var->span, weak ? type_weak_int(8) : type_int64);
	check_body(c, n->loop.body);
}

/* The variable of the loop is (key, value). */
static void check_for_map(struct check *c, struct stmt *n)
{
	struct map *m = n->loop.from->map.map;
	const struct type *value = check_loop_map(c, n->loop.from);

	if (value->kind != TYPE_BAD && m->key) {
		const struct type *members[] = {m->key, value};

		check_var_write(c, n->loop.var, n->loop.var->span, type_tuple(c->arena, members, 2));
	}
	check_body(c, n->loop.body);
}

/* ---- loops over frames ---- */

static bool any_each(const struct expr *first)
{
	for (const struct expr *n = first; n; n = n->next)
		if (n->type && type_has_each(n->type))
			return true;
	return false;
}

static bool is_print(const struct expr *n)
{
	return n->kind == EXPR_CALL && (!strcmp(n->call.name, "print") || !strcmp(n->call.name, "printf"));
}

/* Returns whether userspace can repeat the effect of the statement for each frame. */
static bool can_repeat(const struct stmt *n)
{
	const struct type *t;

	if (n->kind == STMT_EXPR)
		return is_print(n->expr) && any_each(n->expr->call.args);
	if (n->kind != STMT_ASSIGN || n->assign.left->kind != EXPR_MAP || n->assign.op != OP_NONE)
		return false;
	t = n->assign.right->type;
	return t && (t->kind == TYPE_AGG || t->kind == TYPE_BAD) && any_each(n->assign.left->map.keys) &&
		!any_each(n->assign.right->kind == EXPR_CALL ? n->assign.right->call.args : NULL);
}

static void repeats_not(struct check *c, const struct stmt *n)
{
	check_fail(c, n->span, DIAG_LOOP, "a loop over frames may only count its frames, or print them");
	check_hint(c, "for example @[$f.func] = count(); or printf(\"%%s\\n\", $f.func); $f is the variable of "
		"the loop");
}

/* The statements run once, and userspace repeats each of them for all frames: see for_stack(). So two that print would
 * not alternate. Returns the number of those. */
static unsigned check_repeated(struct check *c, struct stmt *first, unsigned prints)
{
	for (struct stmt *n = first; n; n = n->next) {
		if (n->kind == STMT_EXPR && is_print(n->expr) && prints++ == 1)
			check_fail(c, n->span, DIAG_LOOP,
				"a loop over frames prints with one statement: use one printf()");
		else if (n->kind == STMT_IF)
			prints = check_repeated(c, n->cond.els, check_repeated(c, n->cond.then, prints));
		else if (n->kind == STMT_BLOCK)
			prints = check_repeated(c, n->stmts, prints);
		else if (n->kind != STMT_BREAK && n->kind != STMT_CONTINUE && !can_repeat(n))
			repeats_not(c, n);
	}
	return prints;
}

/* The variable of the loop is each frame of a stack. */
static void check_for_stack(struct check *c, struct stmt *n)
{
	const struct type *t = check_value(c, n->loop.from);

	if (t->kind == TYPE_STACK) {
		check_var_write(c, n->loop.var, n->loop.var->span, type_frame(c->arena, t, FRAME_EACH, FRAME_PART_ALL));
		check_stmts(c, n->loop.body);
		check_repeated(c, n->loop.body, 0);
		return;
	}
	check_var_write(c, n->loop.var, n->loop.var->span, type_bad);
	if (t->kind != TYPE_BAD)
		check_fail(c, n->loop.from->span, DIAG_LOOP, "a loop goes over a range, a map or a stack, not %s",
			check_type_name(c, t));
	check_stmts(c, n->loop.body);
}

/* `if comptime` does not check the branch that is not taken, since it may make no sense. */
static void check_if(struct check *c, struct stmt *n)
{
	bool comptime = n->cond.test->kind == EXPR_COMPTIME;
	bool known = check_truth(c, n->cond.test);
	const struct expr *test = n->cond.test;
	bool truth = test->kind == EXPR_BOOL ? test->boolean :
		test->kind == EXPR_INT ? test->integer.value : false;

	if (known && comptime && (test->kind == EXPR_BOOL || test->kind == EXPR_INT)) {
		n->kind = STMT_BLOCK;
		n->stmts = truth ? n->cond.then : n->cond.els;
		check_stmts(c, n->stmts);
		return;
	}
	check_stmts(c, n->cond.then);
	check_stmts(c, n->cond.els);
}

/* The kernel gets 0, whatever a probe returns. */
static void check_return(struct check *c, struct stmt *n)
{
	const struct type *t = n->expr ? check_value(c, n->expr) : type_int64;

	if (t->kind != TYPE_BAD && t->kind != TYPE_INT)
		check_fail(c, n->expr->span, DIAG_OPERAND, "a probe returns an integer, not %s",
			check_type_name(c, t));
}

static void check_stmt(struct check *c, struct stmt *n)
{
	switch (n->kind) {
	case STMT_ASSIGN:
		check_assign(c, n);
		break;
	case STMT_LET:
		check_let(c, n);
		break;
	case STMT_EXPR:
		check_expr_stmt(c, n);
		break;
	case STMT_IF:
		check_if(c, n);
		break;
	case STMT_BLOCK:
		check_stmts(c, n->stmts);
		break;
	case STMT_UNROLL:
		check_unroll(c, n);
		break;
	case STMT_WHILE:
		check_truth(c, n->cond.test);
		check_body(c, n->cond.then);
		break;
	case STMT_FOR_RANGE:
		check_for(c, n);
		break;
	case STMT_FOR_MAP:
		check_for_map(c, n);
		break;
	case STMT_FOR_STACK:
		check_for_stack(c, n);
		break;
	case STMT_RETURN:
		check_return(c, n);
		break;
	case STMT_BREAK:
	case STMT_CONTINUE:
		if (!c->loops)
			check_fail(c, n->span, DIAG_LOOP, "%s is outside of a loop",
				stmt_kind_name(n->kind));
		break;
	}
}

void check_stmts(struct check *c, struct stmt *n)
{
	for (; n; n = n->next)
		check_stmt(c, n);
}

/* ---- rounds ---- */

static void check_round(struct check *c)
{
	c->changed = false;
	c->unknown = 0;
	for (c->probe = c->script->probes; c->probe; c->probe = c->probe->next) {
		if (c->probe->filter)
			check_truth(c, c->probe->filter);
		if (c->probe->predicate)
			check_truth(c, c->probe->predicate);
		check_stmts(c, c->probe->body);
	}
}

static void new_state(struct check *c)
{
	unsigned nprobes = 0;

	for (struct probe *p = c->script->probes; p; p = p->next)
		nprobes++;
	c->maps = arena_new_array(c->arena, struct map_state, c->script->nmaps + 1);
	c->vars = arena_new_array(c->arena, struct var_state *, nprobes + 1);
	for (struct probe *p = c->script->probes; p; p = p->next)
		c->vars[p->index] =
			arena_new_array(c->arena, struct var_state, p->nvars + 1);
}

/* Each round except the last learns something, and a type can grow only a few times. This limit cannot be
 * reached; it ends the rounds if the checker has a bug. */
static unsigned rounds_max(const struct check *c)
{
	unsigned n = 100 + 8 * c->script->nmaps;

	for (struct probe *p = c->script->probes; p; p = p->next)
		n += 8 * p->nvars;
	return n;
}

/* Drops maps that are only mentioned in a branch that is not compiled. */
static void drop_unused_maps(struct script *s)
{
	for (struct map **m = &s->maps; *m;)
		if ((*m)->value)
			m = &(*m)->next;
		else
			*m = (*m)->next;
}

bool check(struct script *s, const struct language *lang, const struct request *req)
{
	struct check c = {
		.script = s, .lang = lang, .req = req, .arena = s->arena, .ok = true};
	unsigned left = rounds_max(&c);

	new_state(&c);
	check_known_maps(&c);
	do {
		check_round(&c);
		if (!c.changed && c.unknown)
			c.changed = check_guess(&c);
	} while (c.changed && --left);
	c.final = true;
	check_round(&c);
	for (struct map *m = s->maps; c.ok && m; m = m->next)
		check_map_is_known(&c, m);
	for (struct probe *p = s->probes; c.ok && !diags_failed(req->diags) && p; p = p->next)
		for (const struct var *v = p->vars; v; v = v->next)
			check_var_is_known(&c, v);
	if (c.ok)
		drop_unused_maps(s);
	if (c.ok)
		check_thinned(&c);
	return c.ok;
}
