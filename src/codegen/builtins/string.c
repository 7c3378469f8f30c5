// SPDX-License-Identifier: Apache-2.0
/* string.c - strings out of memory. */
#include <linux/bpf.h>

#include "builtins.h"

/* A string that max_strlen cut ends in "..": two bytes more than it keeps. */
enum { TRAILER = 2 };

static const struct type *check_str(struct check *c, struct node *call)
{
	struct node *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t max = check_env(c)->settings.max_strlen, size;
	int64_t n = max;

	if (len && node_is_const(len, &n) && n < 1)
		return check_fail(c, len->span, DIAG_RANGE,
			"str() reads at least 1 byte, not %lld", (long long)n);
	size = n < max ? n + 1 : max + TRAILER + 1;
	node_param_as_string(c, arg);
	if (arg->type->kind == TYPE_STRING)
		return arg->type->size <= size ? arg->type : type_string(check_arena(c), size);
	return type_string(check_arena(c), size);
}

/* Addresses of the kernel have the highest bit set, on x86_64 and arm64. The length
 * read, with its NUL. */
static struct ir *read_string(struct gen *g, struct ir *dst, struct ir *size, struct ir *addr)
{
	struct ir_block *kernel = emit_block(g->e, "kernel"), *user = emit_block(g->e, "user");
	struct ir_block *end = emit_block(g->e, "str");
	struct ir *n = gen_local(g);

	emit_branch(g->e, emit_compare(g->e, EMIT_SLT, addr, emit_int(g->e, 0)), kernel, user);
	emit_at(g->e, kernel);
	emit_store(g->e, n, 0, 8,
		gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, size, addr));
	emit_jump(g->e, end);
	emit_at(g->e, user);
	emit_store(g->e, n, 0, 8, gen_call(g, BPF_FUNC_probe_read_user_str, 3, dst, size, addr));
	emit_jump(g->e, end);
	emit_at(g->e, end);
	return emit_load(g->e, n, 0, 8, true);
}

/* A length known only at run time, with the NUL; at most the whole. */
static struct ir *length(struct gen *g, struct node *len, uint32_t max)
{
	struct ir *n = emit_binary(g->e, EMIT_ADD, gen_value(g, len), emit_int(g->e, 1));

	return gen_below(g, n, max + 1);
}

/* A string made shorter. What is behind its end is zero, as keys are compared. */
static struct ir *shorten(struct gen *g, struct node *call, struct ir *dst)
{
	struct node *arg = call_arg(call, 0), *len = call_arg(call, 1);
	struct ir *n, *from;

	if (!len || len->kind == N_INT) {
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
	struct ir_block *cut = emit_block(g->e, "cut"), *end = emit_block(g->e, "whole");

	emit_branch(g->e, emit_compare(g->e, EMIT_EQ, n, emit_int(g->e, kept + 2)), cut, end);
	emit_at(g->e, cut);
	for (uint32_t i = 0; i < TRAILER; i++)
		emit_store(g->e, dst, kept + i, 1, emit_int(g->e, '.'));
	emit_store(g->e, dst, kept + TRAILER, 1, emit_int(g->e, 0));
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

static struct ir *emit_str(struct gen *g, struct node *call, struct ir *into)
{
	struct node *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t size = call->type->size;
	struct ir *dst = into ? into : gen_mem(g, size), *addr, *n;
	bool limited = len && len->kind == N_INT && len->integer.value + 1 == size;

	if (arg->type->kind == TYPE_STRING)
		return shorten(g, call, dst);
	addr = gen_value(g, arg);
	if (len && len->kind != N_INT)
		n = length(g, len, size - TRAILER);
	else
		n = emit_int(g->e, limited ? size : size - 1);
	gen_zero(g, dst, size);
	n = read_string(g, dst, n, addr);
	if (!len || (len->kind == N_INT && !limited))
		mark_cut(g, dst, n, size - TRAILER - 1);
	return dst;
}

const struct builtin builtins_string[] = {
	{
		.name = "str",
		.sig = "any [int] -> special",
		.help = "the string at an address, of LENGTH bytes at most",
		.check = check_str,
		.emit = emit_str,
	},
	BUILTINS_END,
};
