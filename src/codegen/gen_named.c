// SPDX-License-Identifier: Apache-2.0
/* gen_named.c - finds the processes that conditions name, by pid == N: see image.named. */
#include <string.h>

#include "gen.h"

static bool is_pid(const struct expr *e)
{
	return e->kind == EXPR_CALL && !strcmp(e->call.name, "pid");
}

/* Returns the number in pid == N or N == pid, or 0 for other conditions. */
static uint32_t named_pid(const struct expr *e)
{
	const struct expr *l = e->op.left, *r = e->op.right, *n = is_pid(l) ? r : l;
	bool is = e->op.op == OP_EQ && (is_pid(l) || is_pid(r)) && n->kind == EXPR_INT;

	return is && n->integer.value <= INT32_MAX ? (uint32_t)n->integer.value : 0;
}

static void add_named(struct image *img, uint32_t pid)
{
	for (unsigned i = 0; i < img->nnamed; i++)
		if (img->named[i] == pid)
			return;
	if (pid && img->nnamed < IMAGE_NAMED_MAX)
		img->named[img->nnamed++] = pid;
}

void gen_named(struct gen *g, const struct expr *condition)
{
	if (condition->kind != EXPR_BINOP)
		return;
	add_named(g->img, named_pid(condition));
	if (condition->op.op == OP_LAND || condition->op.op == OP_LOR) {
		gen_named(g, condition->op.left);
		gen_named(g, condition->op.right);
	}
}
