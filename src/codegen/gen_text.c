// SPDX-License-Identifier: Apache-2.0
/* gen_text.c - operators of strings. */
#include "gen.h"

#include <linux/bpf.h>

/* Copies text with a helper: at most size bytes, including the NUL, which the helper adds. */
static struct ir *copy_text(struct gen *g, struct ir *dst, uint32_t size, struct ir *from)
{
	return gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, ir_int(g->ir, size), from);
}

struct ir *gen_text_join(struct gen *g, struct expr *left, struct expr *right, const struct type *t,
	struct ir *into)
{
	struct ir *a = gen_value_before(g, left, right), *b = gen_value(g, right), *len;
	struct ir *dst = into ? into : gen_mem(g, t->size);

	gen_zero(g, dst, t->size);
	len = copy_text(g, dst, left->type->size, a);
	len = gen_index(g, ir_binary(g->ir, IR_SUB, len, ir_int(g->ir, 1)), left->type->size);
	/* Opaque: if LLVM knows that the low bits of dst are 0 and len is small, it adds by `|`, which the
	 * verifier forbids for pointers. */
	copy_text(g, ir_index(g->ir, dst, ir_opaque(g->ir, len)), right->type->size, b);
	return dst;
}

struct ir *gen_concat(struct gen *g, struct expr *n)
{
	return gen_text_join(g, n->op.left, n->op.right, n->type, NULL);
}

/* The copying helper returns the length, so the string is copied onto itself. */
struct ir *gen_text_len(struct gen *g, struct expr *n)
{
	struct ir *s = gen_value(g, n);

	return ir_binary(g->ir, IR_SUB, copy_text(g, s, n->type->size, s), ir_int(g->ir, 1));
}

/* Returns the offset of the first of `words` words of 8 bytes that differs, or the offset after them. */
static struct ir *first_difference(struct gen *g, struct ir *a, struct ir *b, uint32_t words)
{
	struct ir_block *test = ir_block(g->ir, "words"), *body = ir_block(g->ir, "word");
	struct ir_block *next = ir_block(g->ir, "same"), *end = ir_block(g->ir, "differ");
	struct ir *at = gen_local(g), *i, *offset;

	ir_store(g->ir, at, 0, 8, ir_int(g->ir, 0));
	ir_jump(g->ir, test);
	ir_at(g->ir, test);
	i = ir_load(g->ir, at, 0, 8, false);
	ir_branch(g->ir, ir_compare(g->ir, IR_ULT, i, ir_int(g->ir, words)), body, end);
	ir_at(g->ir, body);
	offset = ir_binary(g->ir, IR_SHL, gen_index(g, i, words), ir_int(g->ir, 3));
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, ir_load(g->ir, ir_index(g->ir, a, offset), 0, 8, false),
		ir_load(g->ir, ir_index(g->ir, b, offset), 0, 8, false)), next, end);
	ir_at(g->ir, next);
	ir_store(g->ir, at, 0, 8, ir_binary(g->ir, IR_ADD, i, ir_int(g->ir, 1)));
	ir_jump(g->ir, test);
	ir_at(g->ir, end);
	return ir_binary(g->ir, IR_SHL, ir_load(g->ir, at, 0, 8, false), ir_int(g->ir, 3));
}

/* Returns the difference of the first bytes that differ, of the 8 bytes from `from` on, below max. */
static struct ir *byte_difference(struct gen *g, struct ir *a, struct ir *b, struct ir *from, uint32_t max)
{
	struct ir *differ = gen_local(g), *i, *x, *y;
	struct ir_block *end = ir_block(g->ir, "compared");

	ir_store(g->ir, differ, 0, 8, ir_int(g->ir, 0));
	for (uint32_t k = 0; k < 8 && k < max; k++) {
		struct ir_block *body = ir_block(g->ir, "byte"), *next = ir_block(g->ir, "next");

		i = ir_binary(g->ir, IR_ADD, from, ir_int(g->ir, k));
		ir_branch(g->ir, ir_compare(g->ir, IR_ULT, i, ir_int(g->ir, max)), body, end);
		ir_at(g->ir, body);
		i = gen_index(g, i, max);
		x = ir_load(g->ir, ir_index(g->ir, a, i), 0, 1, false);
		y = ir_load(g->ir, ir_index(g->ir, b, i), 0, 1, false);
		ir_store(g->ir, differ, 0, 8, ir_binary(g->ir, IR_SUB, x, y));
		ir_branch(g->ir, ir_compare(g->ir, IR_EQ, x, y), next, end);
		ir_at(g->ir, next);
	}
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, differ, 0, 8, true);
}

struct ir *gen_bytes_differ(struct gen *g, struct ir *a, struct ir *b, uint32_t max)
{
	struct ir *from = ir_int(g->ir, 0);

	if (!max)
		return ir_int(g->ir, 0);
	if (max >= 8)
		from = first_difference(g, a, b, max / 8);
	return byte_difference(g, a, b, from, max);
}

/* Bytes after the NUL are 0 in both, so words can be compared. */
struct ir *gen_text_differ(struct gen *g, struct expr *left, struct expr *right, uint32_t most)
{
	struct ir *a = gen_value_before(g, left, right), *b = gen_value(g, right);
	uint32_t na = left->type->size, nb = right->type->size, max = na < nb ? na : nb;

	return gen_bytes_differ(g, a, b, most < max ? most : max);
}

struct ir *gen_text_order(struct gen *g, struct expr *n)
{
	return gen_binary(g, n->op.op, type_int64,
		gen_text_differ(g, n->op.left, n->op.right, TYPE_STRING_MAX), type_int64, ir_int(g->ir, 0));
}
