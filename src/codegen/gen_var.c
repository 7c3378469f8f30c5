// SPDX-License-Identifier: Apache-2.0
/* gen_var.c - variables: their memory, and assignments to them. */
#include "gen.h"

struct ir *gen_var_slot(struct gen *g, const struct var *v)
{
	return v->slot ? v->slot : gen_mem_at(g, v->at);
}

void gen_vars_make(struct gen *g)
{
	for (struct var *v = g->probe->vars; v; v = v->next) {
		if (!v->type || v->type->kind == TYPE_BAD)
			continue;
		if (type_in_memory(v->type) || g->has_bodies || v->addressed) {
			g->at = v->first;
			v->slot = NULL;
			v->at = gen_mem_take(g, v->type->size);
			gen_zero(g, gen_mem_at(g, v->at), (v->type->size + 7) & ~7u);
		} else {
			v->slot = ir_alloca(g->ir, 8);
			ir_store(g->ir, v->slot, 0, 8, ir_int(g->ir, 0));
		}
	}
}

static bool is_var(struct expr *n, void *v)
{
	return n->kind == EXPR_VAR && n->var.var == v;
}

/* A value in memory is made in the variable's memory, unless its expression reads the variable: `$t =
 * ($t.1, $t.0)`. */
static void set(struct gen *g, struct var *v, struct expr *value)
{
	struct ir *made;

	if (!type_in_memory(v->type) || !(v->addressed || expr_any(value, is_var, v))) {
		gen_into(g, value, v->type, gen_var_slot(g, v), 0);
		return;
	}
	made = gen_mem(g, v->type->size);
	gen_into(g, value, v->type, made, 0);
	gen_copy(g, gen_var_slot(g, v), made, v->type->size);
}

void gen_assign_var(struct gen *g, struct stmt *n)
{
	struct var *v = n->assign.left->var.var;
	struct ir *old, *value;

	if (n->assign.op == OP_NONE) {
		set(g, v, n->assign.right);
		return;
	}
	old = gen_get(g, v->type, gen_var_slot(g, v), 0); /* the right side may change it */
	value = gen_value(g, n->assign.right);
	value = gen_binary(g, n->assign.op, v->type, old, n->assign.right->type, value);
	gen_put(g, value, v->type, v->type, gen_var_slot(g, v), 0);
}

void gen_let(struct gen *g, struct stmt *n)
{
	struct var *v = n->let.var->var.var;

	if (!v->type) /* it is never used */
		return;
	if (n->let.value)
		set(g, v, n->let.value);
	else
		gen_zero(g, gen_var_slot(g, v), type_in_memory(v->type) ? v->type->size : 8);
}

struct ir *gen_var_incdec(struct gen *g, struct expr *n)
{
	struct var *v = n->op.left->var.var;
	bool up = n->op.op == OP_PREINC || n->op.op == OP_POSTINC;
	bool post = n->op.op == OP_POSTINC || n->op.op == OP_POSTDEC;
	struct ir *old = gen_get(g, v->type, gen_var_slot(g, v), 0);
	struct ir *by = ir_int(g->ir, gen_step(v->type));
	struct ir *new = ir_binary(g->ir, up ? IR_ADD : IR_SUB, old, by);

	gen_put(g, new, v->type, v->type, gen_var_slot(g, v), 0);
	return post ? old : gen_get(g, v->type, gen_var_slot(g, v), 0); /* the value is cut to its size */
}
