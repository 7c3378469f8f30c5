// SPDX-License-Identifier: Apache-2.0
/* gen_text.c - operators of strings. */
#include "gen.h"

#include <linux/bpf.h>

/* What a helper copies: at most size bytes, the NUL among them, which it adds. */
static struct ir *copy_text(struct gen *g, struct ir *dst, uint32_t size, struct ir *from)
{
	return gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, ir_int(g->ir, size), from);
}

struct ir *gen_concat(struct gen *g, struct expr *n)
{
	struct expr *left = n->op.left, *right = n->op.right;
	struct ir *a = gen_value(g, left), *b = gen_value(g, right), *len;
	struct ir *dst = gen_mem(g, n->type->size);

	gen_zero(g, dst, n->type->size);
	len = copy_text(g, dst, left->type->size, a);
	len = gen_below(g, ir_binary(g->ir, IR_SUB, len, ir_int(g->ir, 1)), left->type->size);
	copy_text(g, ir_index(g->ir, dst, len), right->type->size, b);
	return dst;
}

/* The first byte that differs decides; both end in NUL, behind which they are equal. */
struct ir *gen_text_order(struct gen *g, struct expr *n)
{
	struct ir *a = gen_value(g, n->op.left), *b = gen_value(g, n->op.right), *i, *x, *y;
	uint32_t na = n->op.left->type->size, nb = n->op.right->type->size, max = na < nb ? na : nb;
	struct ir *at = gen_local(g), *differ = gen_local(g);
	struct ir_block *test = ir_block(g->ir, "bytes"), *body = ir_block(g->ir, "byte");
	struct ir_block *next = ir_block(g->ir, "same"), *end = ir_block(g->ir, "ordered");

	ir_store(g->ir, at, 0, 8, ir_int(g->ir, 0));
	ir_store(g->ir, differ, 0, 8, ir_int(g->ir, 0));
	ir_jump(g->ir, test);
	ir_at(g->ir, test);
	i = ir_load(g->ir, at, 0, 8, false);
	ir_branch(g->ir, ir_compare(g->ir, IR_ULT, i, ir_int(g->ir, max)), body, end);
	ir_at(g->ir, body);
	i = gen_below(g, i, max);
	x = ir_load(g->ir, ir_index(g->ir, a, i), 0, 1, false);
	y = ir_load(g->ir, ir_index(g->ir, b, i), 0, 1, false);
	ir_store(g->ir, differ, 0, 8, ir_binary(g->ir, IR_SUB, x, y));
	ir_store(g->ir, at, 0, 8, ir_binary(g->ir, IR_ADD, i, ir_int(g->ir, 1)));
	ir_branch(g->ir, ir_binary(g->ir, IR_OR, ir_compare(g->ir, IR_NE, x, y),
		ir_compare(g->ir, IR_EQ, x, ir_int(g->ir, 0))), end, next);
	ir_at(g->ir, next);
	ir_jump(g->ir, test);
	ir_at(g->ir, end);
	return gen_binary(g, n->op.op, type_int64, ir_load(g->ir, differ, 0, 8, true), type_int64,
		ir_int(g->ir, 0));
}
