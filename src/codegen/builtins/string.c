// SPDX-License-Identifier: Apache-2.0
/* string.c - strings out of memory. */
#include <linux/bpf.h>

#include "builtins.h"

static const struct type *check_str(struct check *c, struct node *call)
{
	struct node *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t max = check_env(c)->settings.max_strlen;
	int64_t n;

	node_param_as_string(c, arg);
	if (arg->type->kind == TYPE_STRING)
		return arg->type;
	if (len && node_is_const(len, &n)) {
		if (n < 1)
			return check_fail(c, len->span, DIAG_RANGE,
				"str() reads at least 1 byte, not %lld", (long long)n);
		if (n < max)
			return type_string(check_arena(c), n + 1);
	}
	return type_string(check_arena(c), max);
}

/* Addresses of the kernel have the highest bit set, on x86_64 and arm64. */
static void read_string(struct gen *g, struct ir *dst, struct ir *size, struct ir *addr)
{
	struct ir_block *kernel = emit_block(g->e, "kernel"), *user = emit_block(g->e, "user");
	struct ir_block *end = emit_block(g->e, "str");

	emit_branch(g->e, emit_compare(g->e, EMIT_SLT, addr, emit_int(g->e, 0)), kernel, user);
	emit_at(g->e, kernel);
	gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, size, addr);
	emit_jump(g->e, end);
	emit_at(g->e, user);
	gen_call(g, BPF_FUNC_probe_read_user_str, 3, dst, size, addr);
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

/* A length known only at run time: one more for the NUL, at most the whole. */
static struct ir *length(struct gen *g, struct node *len, uint32_t max)
{
	struct ir *n = emit_binary(g->e, EMIT_ADD, gen_value(g, len), emit_int(g->e, 1));

	return emit_select(g->e, emit_compare(g->e, EMIT_ULT, n, emit_int(g->e, max)), n,
		emit_int(g->e, max));
}

static struct ir *emit_str(struct gen *g, struct node *call, struct ir *into)
{
	struct node *arg = call_arg(call, 0), *len = call_arg(call, 1);
	uint32_t max = call->type->size;
	struct ir *dst, *addr, *size = emit_int(g->e, max);

	if (arg->type->kind == TYPE_STRING) {
		dst = into ? into : gen_mem(g, max);
		gen_into(g, arg, call->type, dst, 0);
		return dst;
	}
	addr = gen_value(g, arg);
	if (len && len->kind != N_INT)
		size = length(g, len, max);
	dst = into ? into : gen_mem(g, max);
	gen_zero(g, dst, max);
	read_string(g, dst, size, addr);
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
