// SPDX-License-Identifier: Apache-2.0
/* build.c - the tree's nodes, for the grammar. Each knows how deep the tree below it
 * is, so that a script cannot make a later pass run out of stack. */
#include "parse.h"

#include <string.h>

#include "base/arena.h"

const char *span_text(struct parse *p, struct span at)
{
	return arena_strndup(p->arena, p->source->text + at.start, at.end - at.start);
}

struct list list_add(struct list l, struct node *n)
{
	if (l.last)
		l.last->next = n;
	else
		l.first = n;
	l.last = n;
	l.n++;
	return l;
}

struct list list_push(struct node *first, struct list rest)
{
	struct list l = list_add((struct list){}, first);

	first->next = rest.first;
	l.last = rest.last;
	l.n += rest.n;
	return l;
}

struct node *ast_node(struct parse *p, struct span at, enum node_kind kind)
{
	struct node *n = arena_new_obj(p->arena, struct node);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

/* The child (and what hangs after it) is below n. */
static void below(struct parse *p, struct node *n, const struct node *child)
{
	for (; child; child = child->next) {
		if (child->depth < n->depth)
			continue;
		n->depth = child->depth;
		if (n->depth < AST_DEPTH_MAX) {
			n->depth++;
		} else if (!p->too_deep) {
			p->too_deep = true;
			diag(p->diags, n->span, DIAG_NESTING,
				"this is nested more than %u levels deep", AST_DEPTH_MAX);
		}
	}
}

struct node *ast_op(struct parse *p, struct span at, enum node_kind kind, enum op op,
	struct node *left, struct node *right)
{
	struct node *n = ast_node(p, at, kind);

	n->op.op = op;
	n->op.left = left;
	n->op.right = right;
	below(p, n, left);
	below(p, n, right);
	return n;
}

struct node *ast_cond(struct parse *p, struct span at, enum node_kind kind,
	struct node *test, struct node *then, struct node *els)
{
	struct node *n = ast_node(p, at, kind);

	n->cond.test = test;
	n->cond.then = then;
	n->cond.els = els;
	below(p, n, test);
	below(p, n, then);
	below(p, n, els);
	return n;
}

struct node *ast_call(
	struct parse *p, struct span at, const char *name, struct list args, bool parens)
{
	struct node *n = ast_node(p, at, N_CALL);

	n->call.name = name;
	n->call.args = args.first;
	n->call.nargs = args.n;
	n->call.parens = parens;
	below(p, n, args.first);
	return n;
}

/* @m[(a, b)] is @m[a, b]. */
static void map_keys(struct parse *p, struct node *map, struct list keys)
{
	if (keys.n == 1 && keys.first->kind == N_TUPLE && keys.first->members->next)
		map->map.keys = keys.first->members;
	else
		map->map.keys = keys.first;
	below(p, map, map->map.keys);
}

/* A map followed by [..] is an element of the map, anything else an index. */
struct node *ast_index(
	struct parse *p, struct span at, struct node *object, struct list keys)
{
	struct node *n;

	if (object->kind == N_MAP && !object->map.keys) {
		object->span = at;
		map_keys(p, object, keys);
		return object;
	}
	if (keys.n != 1) {
		diag(p->diags, keys.first->next->span, DIAG_SYNTAX,
			"only a map has several keys");
		keys.first->next = NULL;
	}
	n = ast_node(p, at, N_INDEX);
	n->index.object = object;
	n->index.index = keys.first;
	below(p, n, object);
	below(p, n, keys.first);
	return n;
}

struct node *ast_field(
	struct parse *p, struct span at, struct node *object, const char *name)
{
	struct node *n = ast_node(p, at, N_FIELD);

	n->field.object = object;
	n->field.name = name;
	below(p, n, object);
	return n;
}

/* "( uint8 )" -> "uint8", "( struct task  *)" -> "struct task  *" */
static const char *inside(struct parse *p, const char *parens)
{
	size_t len;

	parens += strspn(parens, "( \t\r\n");
	len = strcspn(parens, ")");
	while (len && strchr(" \t\r\n", parens[len - 1]))
		len--;
	return arena_strndup(p->arena, parens, len);
}

struct node *ast_cast(struct parse *p, struct span at, const char *to, struct node *value)
{
	struct node *n = ast_node(p, at, N_CAST);

	n->cast.to = inside(p, to);
	n->cast.value = value;
	below(p, n, value);
	return n;
}

struct node *ast_tuple(struct parse *p, struct span at, struct list members)
{
	struct node *n = ast_node(p, at, N_TUPLE);

	n->members = members.first;
	below(p, n, members.first);
	return n;
}

/* `_ = e` says that the value is not wanted. */
struct node *ast_assign(struct parse *p, struct span at, enum op op, struct node *left,
	struct node *right)
{
	if (left->kind == N_CALL && !left->call.parens && !strcmp(left->call.name, "_") &&
		op == OP_NONE) {
		struct node *n = ast_expr(p, at, N_EXPR, right);

		n->discard = true;
		return n;
	}
	if (left->kind != N_VAR && left->kind != N_MAP) {
		diag(p->diags, left->span, DIAG_SYNTAX,
			"only a $variable or a @map can be assigned to");
		return ast_expr(p, at, N_EXPR, right);
	}
	return ast_op(p, at, N_ASSIGN, op, left, right);
}

struct node *ast_let(struct parse *p, struct span at, struct node *var, const char *to,
	struct node *value)
{
	struct node *n = ast_node(p, at, N_LET);

	n->let.var = var;
	n->let.to = to;
	n->let.value = value;
	below(p, n, value);
	return n;
}

struct node *ast_expr(
	struct parse *p, struct span at, enum node_kind kind, struct node *expr)
{
	struct node *n = ast_node(p, at, kind);

	n->expr = expr;
	below(p, n, expr);
	return n;
}

struct node *ast_block(struct parse *p, struct span at, struct list stmts)
{
	struct node *n = ast_node(p, at, N_BLOCK);

	n->stmts = stmts.first;
	below(p, n, stmts.first);
	return n;
}

struct node *ast_range(struct parse *p, struct span at, struct node *var,
	struct node *from, struct node *to)
{
	struct node *n = ast_node(p, at, N_FOR_RANGE);

	n->loop.var = var;
	n->loop.from = from;
	n->loop.to = to;
	below(p, n, from);
	below(p, n, to);
	return n;
}

/* head: the count of UNROLL, the range of FOR_RANGE. */
struct node *ast_loop(struct parse *p, struct span at, enum node_kind kind,
	struct node *head, struct node *body)
{
	struct node *n = head;

	if (kind == N_UNROLL) {
		n = ast_node(p, at, kind);
		n->loop.from = head;
		below(p, n, head);
	}
	n->span = at;
	n->loop.body = body;
	below(p, n, body);
	return n;
}

struct node *ast_named(
	struct parse *p, struct span at, enum node_kind kind, const char *name)
{
	struct node *n = ast_node(p, at, kind);

	if (kind == N_VAR)
		n->var.name = name;
	else if (kind == N_MAP)
		n->map.name = name;
	else
		n->word = name;
	return n;
}

/* ---- the top level ---- */

void probe_begin(struct parse *p, struct attach_point *first)
{
	p->this_probe = arena_new_obj(p->arena, struct probe);
	p->this_probe->points = first;
}

void probe_end(struct parse *p, struct span at, struct node *predicate, struct node *body)
{
	struct probe *probe = p->this_probe;

	probe->span = at;
	probe->predicate = predicate;
	probe->body = body;
	*p->probes_end = probe;
	p->probes_end = &probe->next;
}

void setting_add(struct parse *p, struct span at, const char *name, struct node *value)
{
	struct setting *s = arena_new_obj(p->arena, struct setting);

	s->name = name;
	s->span = at;
	s->value = value;
	*p->settings_end = s;
	p->settings_end = &s->next;
}
