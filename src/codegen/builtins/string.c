// SPDX-License-Identifier: Apache-2.0
/* string.c - str(). */
#include <linux/bpf.h>

#include "builtins.h"

/* A string that max_strlen has cut ends in "..", two bytes beyond max_strlen. */
enum { TRAILER = 2 };

static const struct type *check_str(struct check *c, struct expr *call)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t max = check_env(c)->settings.max_strlen, size;
	int64_t n = max;

	if (len && expr_is_const(len, &n) && n < 1)
		return check_fail(c, len->span, DIAG_RANGE,
			"str() reads at least 1 byte, not %lld", (long long)n);
	size = n < max ? n + 1 : max + TRAILER + 1;
	expr_param_as_string(c, arg);
	if (arg->type->kind == TYPE_STRING)
		return arg->type->size <= size ? arg->type : type_string(check_arena(c), size);
	return type_string(check_arena(c), size);
}

/* A length that is not a constant, with the NUL; at most max. */
static struct ir *length(struct gen *g, struct expr *len, uint32_t max)
{
	struct ir *n = ir_binary(g->ir, IR_ADD, gen_value(g, len), ir_int(g->ir, 1));

	return gen_below(g, n, max + 1);
}

/* str() of a string: cuts it. The bytes behind its end are zero, since whole keys are compared. */
static struct ir *shorten(struct gen *g, struct expr *call, struct ir *dst)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	struct ir *n, *from;

	if (!len || len->kind == EXPR_INT) {
		gen_into(g, arg, call->type, dst, 0);
		return dst;
	}
	from = gen_value(g, arg);
	n = length(g, len, call->type->size);
	gen_zero(g, dst, call->type->size);
	gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, n, from);
	return dst;
}

/* n: the length read, of one byte more than is kept; if all were read, the string is cut. */
static void mark_cut(struct gen *g, struct ir *dst, struct ir *n, uint32_t kept)
{
	struct ir_block *cut = ir_block(g->ir, "cut"), *end = ir_block(g->ir, "whole");

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, n, ir_int(g->ir, kept + 2)), cut, end);
	ir_at(g->ir, cut);
	for (uint32_t i = 0; i < TRAILER; i++)
		ir_store(g->ir, dst, kept + i, 1, ir_int(g->ir, '.'));
	ir_store(g->ir, dst, kept + TRAILER, 1, ir_int(g->ir, 0));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

static struct ir *gen_str(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t size = call->type->size;
	struct ir *dst = into ? into : gen_mem(g, size), *addr, *n;
	bool limited = len && len->kind == EXPR_INT && len->integer.value + 1 == size;

	if (arg->type->kind == TYPE_STRING)
		return shorten(g, call, dst);
	addr = gen_value(g, arg);
	if (len && len->kind != EXPR_INT)
		n = length(g, len, size - TRAILER);
	else
		n = ir_int(g->ir, limited ? size : size - 1);
	gen_zero(g, dst, size);
	n = gen_read(g, arg->type->kind == TYPE_POINTER ? arg->type->pointer.space : SPACE_ANY, true, dst, n,
		addr);
	if (!len || (len->kind == EXPR_INT && !limited))
		mark_cut(g, dst, n, size - TRAILER - 1);
	return dst;
}

const struct builtin builtins_string[] = {
	{
		.name = "str",
		.sig = "any [int] -> special",
		.help = "the string at an address, of LENGTH bytes at most",
		.check = check_str,
		.gen = gen_str,
	},
	BUILTINS_END,
};
