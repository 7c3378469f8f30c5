// SPDX-License-Identifier: Apache-2.0
/* build.c - makes expressions and statements, for the grammar. Each has the depth of its tree, which
 * has a limit, so that no later pass runs out of stack. */
#include "parse.h"

#include <string.h>

#include "base/arena.h"

const char *span_text(struct parse *p, struct span at)
{
	return arena_strndup(p->arena, p->source->text + at.start, at.end - at.start);
}

struct expr_list expr_add(struct expr_list l, struct expr *n)
{
	if (l.last)
		l.last->next = n;
	else
		l.first = n;
	l.last = n;
	l.n++;
	return l;
}

struct expr_list expr_push(struct expr *first, struct expr_list rest)
{
	struct expr_list l = expr_add((struct expr_list){}, first);

	first->next = rest.first;
	l.last = rest.last;
	l.n += rest.n;
	return l;
}

struct stmt_list stmt_add(struct stmt_list l, struct stmt *n)
{
	if (l.last)
		l.last->next = n;
	else
		l.first = n;
	l.last = n;
	return l;
}

/* ---- depth ---- */

/* *depth is the depth of a tree that gets a tree of depth `child` below it. */
static void deepen(struct parse *p, uint16_t *depth, struct span at, uint16_t child)
{
	if (child < *depth)
		return;
	*depth = child;
	if (*depth < AST_DEPTH_MAX) {
		++*depth;
	} else if (!p->too_deep) {
		p->too_deep = true;
		diag(p->diags, at, DIAG_NESTING,
			"this is nested more than %u levels deep", AST_DEPTH_MAX);
	}
}

/* n gets the child, and what follows it in its list, below it; NULL: nothing. */
static void expr_below(struct parse *p, struct expr *n, const struct expr *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

static void expr_below_stmt(struct parse *p, struct stmt *n, const struct expr *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

static void stmt_below(struct parse *p, struct stmt *n, const struct stmt *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

/* ---- expressions ---- */

struct expr *ast_expr(struct parse *p, struct span at, enum expr_kind kind)
{
	struct expr *n = arena_new_obj(p->arena, struct expr);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

struct expr *ast_unop(struct parse *p, struct span at, enum op op, struct expr *operand)
{
	struct expr *n = ast_expr(p, at, EXPR_UNOP);

	n->op.op = op;
	n->op.left = operand;
	expr_below(p, n, operand);
	return n;
}

struct expr *ast_binop(
	struct parse *p, struct span at, enum op op, struct expr *left, struct expr *right)
{
	struct expr *n = ast_expr(p, at, EXPR_BINOP);

	n->op.op = op;
	n->op.left = left;
	n->op.right = right;
	expr_below(p, n, left);
	expr_below(p, n, right);
	return n;
}

struct expr *ast_ternary(struct parse *p, struct span at, struct expr *test,
	struct expr *then, struct expr *els)
{
	struct expr *n = ast_expr(p, at, EXPR_TERNARY);

	n->cond.test = test;
	n->cond.then = then;
	n->cond.els = els;
	expr_below(p, n, test);
	expr_below(p, n, then);
	expr_below(p, n, els);
	return n;
}

struct expr *ast_call(
	struct parse *p, struct span at, const char *name, struct expr_list args, bool parens)
{
	struct expr *n = ast_expr(p, at, EXPR_CALL);

	n->call.name = name;
	n->call.args = args.first;
	n->call.nargs = args.n;
	n->call.parens = parens;
	expr_below(p, n, args.first);
	return n;
}

/* @m[(a, b)] is @m[a, b]. */
static void map_keys(struct parse *p, struct expr *map, struct expr_list keys)
{
	if (keys.n == 1 && keys.first->kind == EXPR_TUPLE && keys.first->members->next)
		map->map.keys = keys.first->members;
	else
		map->map.keys = keys.first;
	expr_below(p, map, map->map.keys);
}

/* A map followed by [..] is an element of the map, anything else an index. */
struct expr *ast_index(
	struct parse *p, struct span at, struct expr *object, struct expr_list keys)
{
	struct expr *n;

	if (object->kind == EXPR_MAP && !object->map.keys) {
		object->span = at;
		map_keys(p, object, keys);
		return object;
	}
	if (keys.n != 1) {
		diag(p->diags, keys.first->next->span, DIAG_SYNTAX,
			"only a map has several keys");
		keys.first->next = NULL;
	}
	n = ast_expr(p, at, EXPR_INDEX);
	n->index.object = object;
	n->index.index = keys.first;
	expr_below(p, n, object);
	expr_below(p, n, keys.first);
	return n;
}

struct expr *ast_field(
	struct parse *p, struct span at, struct expr *object, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_FIELD);

	n->field.object = object;
	n->field.name = name;
	expr_below(p, n, object);
	return n;
}

/* For a tree that names a type: typeof(e) puts the expression e below it. */
static void type_below(struct parse *p, uint16_t *depth, struct span at, struct type_name *t)
{
	if (!t)
		return;
	t->text = span_text(p, t->span);
	if (t->of)
		deepen(p, depth, at, t->of->depth);
}

struct expr *ast_cast(
	struct parse *p, struct span at, struct type_name *to, struct expr *value)
{
	struct expr *n = ast_expr(p, at, EXPR_CAST);

	n->cast.to = to;
	n->cast.value = value;
	type_below(p, &n->depth, at, to);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_cast_pointer(struct parse *p, struct span at, const struct expr *name,
	struct span stars, struct expr *value)
{
	struct span type = {name->span.start, stars.end};

	if (name->kind != EXPR_CALL || name->call.parens) {
		diag(p->diags, stars, DIAG_SYNTAX,
			"unexpected '%s' before ')', expected a type in front of it",
			span_text(p, stars));
		return value;
	}
	return ast_cast(p, at, type_name_pointer(p, type), value);
}

struct expr *ast_sizeof(
	struct parse *p, struct span at, struct type_name *type, struct expr *value)
{
	struct expr *n = ast_expr(p, at, EXPR_SIZEOF);

	n->size.type = type;
	n->size.value = value;
	type_below(p, &n->depth, at, type);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_tuple(struct parse *p, struct span at, struct expr_list members)
{
	struct expr *n = ast_expr(p, at, EXPR_TUPLE);

	n->members = members.first;
	expr_below(p, n, members.first);
	return n;
}

struct expr *ast_bool(struct parse *p, struct span at, bool value)
{
	struct expr *n = ast_expr(p, at, EXPR_BOOL);

	n->boolean = value;
	return n;
}

struct expr *ast_param(struct parse *p, struct span at, unsigned number)
{
	struct expr *n = ast_expr(p, at, EXPR_PARAM);

	n->param.number = number;
	return n;
}

struct expr *ast_var(struct parse *p, struct span at, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_VAR);

	n->var.name = name;
	return n;
}

struct expr *ast_map(struct parse *p, struct span at, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_MAP);

	n->map.name = name;
	return n;
}

struct expr *ast_word(struct parse *p, struct span at, const char *word)
{
	struct expr *n = ast_expr(p, at, EXPR_WORD);

	n->word = word;
	return n;
}

/* ---- statements ---- */

struct stmt *ast_stmt(struct parse *p, struct span at, enum stmt_kind kind)
{
	struct stmt *n = arena_new_obj(p->arena, struct stmt);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

struct stmt *ast_expr_stmt(
	struct parse *p, struct span at, enum stmt_kind kind, struct expr *expr)
{
	struct stmt *n = ast_stmt(p, at, kind);

	n->expr = expr;
	expr_below_stmt(p, n, expr);
	return n;
}

/* `_ = e` discards the value. */
struct stmt *ast_assign(struct parse *p, struct span at, enum op op, struct expr *left,
	struct expr *right)
{
	struct stmt *n;

	if (left->kind == EXPR_CALL && !left->call.parens && !strcmp(left->call.name, "_") &&
		op == OP_NONE) {
		n = ast_expr_stmt(p, at, STMT_EXPR, right);
		n->discard = true;
		return n;
	}
	if (left->kind != EXPR_VAR && left->kind != EXPR_MAP) {
		diag(p->diags, left->span, DIAG_SYNTAX,
			"only a $variable or a @map can be assigned to");
		return ast_expr_stmt(p, at, STMT_EXPR, right);
	}
	n = ast_stmt(p, at, STMT_ASSIGN);
	n->assign.op = op;
	n->assign.left = left;
	n->assign.right = right;
	expr_below_stmt(p, n, left);
	expr_below_stmt(p, n, right);
	return n;
}

struct stmt *ast_let(struct parse *p, struct span at, struct expr *var, struct type_name *to,
	struct expr *value)
{
	struct stmt *n = ast_stmt(p, at, STMT_LET);

	n->let.var = var;
	n->let.to = to;
	n->let.value = value;
	type_below(p, &n->depth, at, to);
	expr_below_stmt(p, n, value);
	return n;
}

struct stmt *ast_cond(struct parse *p, struct span at, enum stmt_kind kind,
	struct expr *test, struct stmt *then, struct stmt *els)
{
	struct stmt *n = ast_stmt(p, at, kind);

	n->cond.test = test;
	n->cond.then = then;
	n->cond.els = els;
	expr_below_stmt(p, n, test);
	stmt_below(p, n, then);
	stmt_below(p, n, els);
	return n;
}

struct stmt *ast_block(struct parse *p, struct span at, struct stmt_list stmts)
{
	struct stmt *n = ast_stmt(p, at, STMT_BLOCK);

	n->stmts = stmts.first;
	stmt_below(p, n, stmts.first);
	return n;
}

struct stmt *ast_unroll(struct parse *p, struct span at, struct expr *count, struct stmt *body)
{
	struct stmt *n = ast_stmt(p, at, STMT_UNROLL);

	n->loop.from = count;
	n->loop.body = body;
	expr_below_stmt(p, n, count);
	stmt_below(p, n, body);
	return n;
}

struct stmt *ast_range(struct parse *p, struct span at, struct expr *var,
	struct expr *from, struct expr *to)
{
	struct stmt *n = ast_stmt(p, at, STMT_FOR_RANGE);

	n->loop.var = var;
	n->loop.from = from;
	n->loop.to = to;
	expr_below_stmt(p, n, from);
	expr_below_stmt(p, n, to);
	return n;
}

struct stmt *ast_for(struct parse *p, struct span at, struct stmt *range, struct stmt *body)
{
	range->span = at;
	range->loop.body = body;
	stmt_below(p, range, body);
	return range;
}

/* ---- the top level ---- */

void probe_begin(struct parse *p, struct attach_point *first)
{
	p->this_probe = arena_new_obj(p->arena, struct probe);
	p->this_probe->points = first;
}

void probe_end(struct parse *p, struct span at, struct expr *predicate, struct stmt *body)
{
	struct probe *probe = p->this_probe;

	probe->span = at;
	probe->predicate = predicate;
	probe->body = body;
	*p->probes_end = probe;
	p->probes_end = &probe->next;
}

void setting_add(struct parse *p, struct span at, const char *name, struct expr *value)
{
	struct setting *s = arena_new_obj(p->arena, struct setting);

	s->name = name;
	s->span = at;
	s->value = value;
	*p->settings_end = s;
	p->settings_end = &s->next;
}
