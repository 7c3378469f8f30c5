// SPDX-License-Identifier: Apache-2.0
/* value.c - a block as an expression: the value of its last statement. */
#include "value.h"

#include "base/arena.h"
#include "parser/ast.h"

static struct expr *new_expr(struct arena *a, struct span at, enum expr_kind kind, uint16_t depth)
{
	struct expr *n = arena_new_obj(a, struct expr);

	n->kind = kind;
	n->span = at;
	n->depth = depth;
	return n;
}

/* Handles if c { 1 } else { 2 }. */
static struct expr *value_of_if(struct arena *a, struct stmt *n)
{
	struct expr *then = n->cond.els ? value_of_block(a, n->cond.then) : NULL;
	struct expr *els = !then ? NULL : n->cond.els->kind == STMT_IF ? value_of_if(a, n->cond.els) :
		value_of_block(a, n->cond.els);
	struct expr *value = els ? new_expr(a, n->span, EXPR_TERNARY, (uint16_t)(n->depth + 1)) : NULL;

	if (!value)
		return NULL;
	value->cond.test = n->cond.test;
	value->cond.then = then;
	value->cond.els = els;
	return value;
}

struct expr *value_of_block(struct arena *a, struct stmt *block)
{
	struct stmt **last = &block->stmts;
	struct expr *value, *n;

	if (!*last)
		return NULL;
	while ((*last)->next)
		last = &(*last)->next;
	if (!(*last)->last)
		return NULL;
	value = (*last)->kind == STMT_EXPR ? (*last)->expr : (*last)->kind == STMT_IF ? value_of_if(a, *last) :
		(*last)->kind == STMT_BLOCK ? value_of_block(a, *last) : NULL;
	if (value)
		*last = NULL;
	if (!value || !block->stmts)
		return value;
	n = new_expr(a, block->span, EXPR_BLOCK, block->depth);
	n->block.stmts = block->stmts;
	n->block.value = value;
	return n;
}
