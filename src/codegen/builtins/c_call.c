// SPDX-License-Identifier: Apache-2.0
/* c_call.c - a call of a C function that an imported program (.bpf.c) defines. Arguments must agree with
 * its parameters as in bpftrace: an integer may have another size, but a bool or a pointer must have the
 * same type. A char * also takes a string. */
#include "builtins.h"

#include <string.h>

#include "types/types.h"

static bool fits(const struct type *to, const struct expr *arg, int64_t v)
{
	unsigned bits = 8 * to->size - to->is_signed;

	if (to->size == 8)
		return to->is_signed ? !arg->integer.is_unsigned : v >= 0 || arg->integer.is_unsigned;
	return v >= (to->is_signed ? -(1LL << bits) : 0) && v < 1LL << bits;
}

static bool agrees(struct check *c, const struct type *to, struct expr *arg)
{
	const struct type *t = arg->type, *was = type_natural(t);
	int64_t v;

	if (to->kind == TYPE_POINTER && t->kind == TYPE_STRING)
		return to->pointer.to->kind == TYPE_INT && to->pointer.to->size == 1;
	if (to->kind != t->kind)
		return false;
	if (to->kind == TYPE_POINTER)
		return to->pointer.to->kind == TYPE_NONE || t->pointer.to->kind == TYPE_NONE ||
		       type_eq(to->pointer.to, t->pointer.to);
	if (to->kind != TYPE_INT)
		return to->kind == TYPE_BOOL;
	if (arg->kind == EXPR_INT && expr_is_const(arg, &v))
		return fits(to, arg, v);
	if (was->size > to->size)
		check_warn(c, arg->span, DIAG_ARG_TYPE, "%s is cut to %s", type_name(check_arena(c), was),
			type_name(check_arena(c), to));
	return true;
}

static const struct type *check_args(struct check *c, struct expr *call, const struct c_function *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct expr *arg = call_arg(call, i);

		if (!agrees(c, f->params[i], arg))
			return check_fail(c, arg->span, DIAG_ARG_TYPE, "%s() takes %s here, not %s", f->name,
				type_name(check_arena(c), f->params[i]), type_name(check_arena(c), arg->type));
	}
	return NULL;
}

static const struct type *check_c_call(struct check *c, struct expr *call)
{
	const struct c_function *f = call->call.data;
	const struct type *wrong;

	if (f->n > C_PARAMS_MAX)
		return check_fail(c, call->span, DIAG_ARG_COUNT, "%s() has %u parameters, and a BPF function "
			"at most %d", f->name, f->n, C_PARAMS_MAX);
	if (f->n != call->call.nargs)
		return check_fail(c, call->span, DIAG_ARG_COUNT, "%s() takes %u argument%s, not %u", f->name, f->n,
			f->n == 1 ? "" : "s", call->call.nargs);
	if (f->result->kind != TYPE_NONE && f->result->kind != TYPE_INT && f->result->kind != TYPE_BOOL &&
	    f->result->kind != TYPE_POINTER)
		return check_fail(c, call->span, DIAG_ARG_TYPE, "%s() returns %s: only integers, bool and pointers "
			"come back from C", f->name, type_name(check_arena(c), f->result));
	wrong = check_args(c, call, f);
	return wrong ? wrong : f->result;
}

/* The verifier follows a variable's address into the function, which may write to it. */
static struct ir *gen_argument(struct gen *g, struct expr *arg)
{
	if (arg->kind == EXPR_UNOP && arg->op.op == OP_ADDRESS && arg->op.left->kind == EXPR_VAR)
		return gen_var_slot(g, arg->op.left->var.var);
	return arg->next ? gen_value_before(g, arg, arg->next) : gen_value(g, arg);
}

static struct ir *gen_c_call(struct gen *g, struct expr *call, struct ir *into)
{
	const struct c_function *f = call->call.data;
	struct ir *args[C_PARAMS_MAX];

	for (unsigned i = 0; i < f->n; i++)
		args[i] = gen_argument(g, call_arg(call, i));
	g->mem_slot = true;
	gen_check_calls(g, 2);
	return ir_extern(g->ir, arena_printf(g->arena, C_CALL "%s", f->name), args, f->n);
}

const struct builtin builtin_c_call = {
	.name = "C function",
	.sig = "... -> special",
	.check = check_c_call,
	.gen = gen_c_call,
};
