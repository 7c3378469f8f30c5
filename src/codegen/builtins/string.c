// SPDX-License-Identifier: Apache-2.0
/* string.c - strings out of memory. */
#include <linux/bpf.h>

#include "builtins.h"

/* A string that max_strlen cut ends in "..": two bytes more than it keeps. */
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

/* Addresses of the kernel have the highest bit set, on x86_64 and arm64. The length
 * read, with its NUL. */
static struct ir *read_string(struct gen *g, struct ir *dst, struct ir *size, struct ir *addr)
{
	struct ir_block *kernel = ir_block(g->ir, "kernel"), *user = ir_block(g->ir, "user");
	struct ir_block *end = ir_block(g->ir, "str");
	struct ir *n = gen_local(g);

	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, addr, ir_int(g->ir, 0)), kernel, user);
	ir_at(g->ir, kernel);
	ir_store(g->ir, n, 0, 8,
		gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, size, addr));
	ir_jump(g->ir, end);
	ir_at(g->ir, user);
	ir_store(g->ir, n, 0, 8, gen_call(g, BPF_FUNC_probe_read_user_str, 3, dst, size, addr));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, n, 0, 8, true);
}

/* A length known only at run time, with the NUL; at most the whole. */
static struct ir *length(struct gen *g, struct expr *len, uint32_t max)
{
	struct ir *n = ir_binary(g->ir, IR_ADD, gen_value(g, len), ir_int(g->ir, 1));

	return gen_below(g, n, max + 1);
}

/* A string made shorter. What is behind its end is zero, as keys are compared. */
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

/* One byte more than is kept was asked for: where it came, something was cut. */
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
	n = read_string(g, dst, n, addr);
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
