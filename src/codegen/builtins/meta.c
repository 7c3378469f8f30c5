// SPDX-License-Identifier: Apache-2.0
/* meta.c - questions about expressions and the kernel that are answered when the script is compiled, for
 * `if comptime`. The kind of an expression's type is known as soon as it has a type. */
#include "builtins.h"

static const struct type *answer(struct expr *call, bool yes)
{
	check_becomes_bool(call, yes);
	return type_bool;
}

static const struct type *kind_is(struct expr *call, enum type_kind kind)
{
	return answer(call, call_arg(call, 0)->type->kind == kind);
}

static const struct type *check_is_array(struct check *c, struct expr *call)
{
	return kind_is(call, TYPE_ARRAY);
}

static const struct type *check_is_integer(struct check *c, struct expr *call)
{
	return kind_is(call, TYPE_INT);
}

static const struct type *check_is_ptr(struct check *c, struct expr *call)
{
	return kind_is(call, TYPE_POINTER);
}

static const struct type *check_is_str(struct check *c, struct expr *call)
{
	return kind_is(call, TYPE_STRING);
}

static const struct type *check_is_literal(struct check *c, struct expr *call)
{
	enum expr_kind kind = call_arg(call, 0)->kind;

	return answer(call, kind == EXPR_INT || kind == EXPR_STRING || kind == EXPR_BOOL);
}

/* A signed integer may still become unsigned before the last round. */
static const struct type *check_is_unsigned(struct check *c, struct expr *call)
{
	const struct type *t = type_natural(call_arg(call, 0)->type);

	if (t->kind == TYPE_INT && !check_is_last(c) && call_arg(call, 0)->kind != EXPR_INT)
		return type_bool;
	return answer(call, t->kind == TYPE_INT && !t->is_signed);
}

/* ---- kernel functions --------------------------------------------------- */

static const struct type *check_kfunc_exist(struct check *c, struct expr *call)
{
	return answer(call, check_kernel_function_module(c, call_arg(call, 0)->string.text));
}

/* Scripts cannot call kernel functions. */
static const struct type *check_kfunc_allowed(struct check *c, struct expr *call)
{
	return answer(call, false);
}

/* ---- is_err ------------------------------------------------------------- */

enum { MAX_ERRNO = 4095 }; /* include/linux/err.h */

static struct ir *gen_is_err(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_compare(g->ir, IR_UGE, gen_value(g, call_arg(call, 0)), ir_int(g->ir, (uint64_t)-MAX_ERRNO));
}

const struct builtin builtins_meta[] = {
	{
		.name = "is_array",
		.sig = "any -> special",
		.help = "whether a value is an array; known before the script runs",
		.check = check_is_array,
	},
	{
		.name = "is_err",
		.sig = "int -> bool",
		.help = "whether a kernel pointer is an error number",
		.gen = gen_is_err,
	},
	{
		.name = "is_integer",
		.sig = "any -> special",
		.help = "whether a value is an integer; known before the script runs",
		.check = check_is_integer,
	},
	{
		.name = "is_literal",
		.sig = "any -> special",
		.help = "whether a value is a constant; known before the script runs",
		.check = check_is_literal,
	},
	{
		.name = "is_ptr",
		.sig = "any -> special",
		.help = "whether a value is a pointer; known before the script runs",
		.check = check_is_ptr,
	},
	{
		.name = "is_str",
		.sig = "any -> special",
		.help = "whether a value is a string; known before the script runs",
		.check = check_is_str,
	},
	{
		.name = "is_unsigned_integer",
		.sig = "any -> special",
		.help = "whether a value is an unsigned integer; known before the script runs",
		.check = check_is_unsigned,
	},
	{
		.name = "kfunc_allowed",
		.sig = "format -> special",
		.help = "whether the script may call this kernel function; always false",
		.check = check_kfunc_allowed,
	},
	{
		.name = "kfunc_exist",
		.sig = "format -> special",
		.help = "whether the kernel's BTF has a function of this name",
		.check = check_kfunc_exist,
	},
	BUILTINS_END,
};
