// SPDX-License-Identifier: Apache-2.0
/* fold.c - replaces an operator on constants by a constant, computed as in the kernel: 64 bits, wrapping. */
#include <string.h>

#include "checker.h"

static void become_int(struct expr *n, uint64_t value, bool is_unsigned)
{
	n->kind = EXPR_INT;
	n->integer.value = value;
	n->integer.is_unsigned = is_unsigned && value > INT64_MAX;
	n->integer.param = NULL;
	n->integer.type = NULL;
}

static void become_bool(struct expr *n, bool value)
{
	n->kind = EXPR_BOOL;
	n->boolean = value;
}

/* Returns whether it is a constant that is true or false. */
static bool has_truth(const struct expr *n, bool *ret)
{
	*ret = n->kind == EXPR_BOOL ? n->boolean : n->kind == EXPR_INT && n->integer.value;
	return n->kind == EXPR_BOOL || n->kind == EXPR_INT;
}

void fold_unop(struct expr *n)
{
	struct expr *arg = n->op.left;
	bool truth;

	if (n->op.op == OP_NOT && has_truth(arg, &truth))
		become_bool(n, !truth);
	if (n->kind != EXPR_UNOP || arg->kind != EXPR_INT)
		return;
	if (n->op.op == OP_NEG)
		become_int(n, -arg->integer.value, false);
	else if (n->op.op == OP_BNOT)
		become_int(n, ~arg->integer.value, true);
}

void fold_to_int(struct expr *n, uint64_t value)
{
	become_int(n, value, true);
}

void fold_to_bool(struct expr *n, bool value)
{
	become_bool(n, value);
}

static bool compare(enum op op, uint64_t a, uint64_t b, bool u, bool *ret)
{
	int64_t x = (int64_t)a, y = (int64_t)b;
	bool less = u ? a < b : x < y;

	switch ((int)op) {
	case OP_EQ:
		*ret = a == b;
		return true;
	case OP_NE:
		*ret = a != b;
		return true;
	case OP_LT:
		*ret = less;
		return true;
	case OP_GE:
		*ret = !less;
		return true;
	case OP_LE:
		*ret = less || a == b;
		return true;
	case OP_GT:
		*ret = !less && a != b;
		return true;
	default:
		return false;
	}
}

/* Where a string is wanted, the sum of a parameter and a constant n is the parameter's text after n bytes. */
static const char *rest_of_param(const struct expr *a, const struct expr *b)
{
	const char *text = a->integer.param ? a->integer.param : b->integer.param;
	uint64_t skip = a->integer.param ? b->integer.value : a->integer.value;

	return !text ? NULL : text + (skip < strlen(text) ? skip : strlen(text));
}

static __int128 whole(const struct expr *n)
{
	return n->integer.is_unsigned ? (__int128)n->integer.value : (__int128)(int64_t)n->integer.value;
}

/* Computes + - * / % of numbers without limits. Returns false for other operators, or for a division by
 * zero. */
static bool calculate(enum op op, __int128 a, __int128 b, __int128 *ret)
{
	if ((op == OP_DIV || op == OP_MOD) && b == 0)
		return false;
	*ret = op == OP_ADD ? a + b : op == OP_SUB ? a - b : op == OP_MUL ? a * b :
		op == OP_DIV ? a / b : op == OP_MOD ? a % b : 0;
	return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV || op == OP_MOD;
}

static bool arith(enum op op, uint64_t a, uint64_t b, bool u, uint64_t *ret)
{
	switch ((int)op) {
	case OP_AND:
		*ret = a & b;
		return true;
	case OP_OR:
		*ret = a | b;
		return true;
	case OP_XOR:
		*ret = a ^ b;
		return true;
	case OP_SHL: /* a count of 64 or more, which gets a warning, is not folded */
		*ret = a << (b & 63);
		return b < 64;
	case OP_SHR:
		*ret = u ? a >> (b & 63) : (uint64_t)((int64_t)a >> (b & 63));
		return b < 64;
	default:
		return false;
	}
}

/* The product of two 64-bit numbers has at most 128 bits. */
static bool fits(__int128 v)
{
	return v >= INT64_MIN && v <= (__int128)UINT64_MAX;
}

/* Two constant texts: an option of the script that was not given is "". */
static void fold_texts(struct expr *n)
{
	const struct expr *a = n->op.left, *b = n->op.right;
	bool equal;

	if ((n->op.op != OP_EQ && n->op.op != OP_NE) || a->kind != EXPR_STRING || b->kind != EXPR_STRING)
		return;
	equal = a->string.len == b->string.len && !memcmp(a->string.text, b->string.text, a->string.len);
	become_bool(n, equal == (n->op.op == OP_EQ));
}

/* Folds && and ||, whose right side is dropped if it would not be evaluated, and comparisons of two bools. */
static void fold_truth(struct expr *n)
{
	enum op op = n->op.op;
	bool a, b;

	if ((op == OP_LAND || op == OP_LOR) && has_truth(n->op.left, &a) && a == (op == OP_LOR)) {
		become_bool(n, a);
		return;
	}
	if (!has_truth(n->op.left, &a) || !has_truth(n->op.right, &b))
		return;
	if (op == OP_LAND || op == OP_LOR)
		become_bool(n, op == OP_LAND ? a && b : a || b);
	else if ((op == OP_EQ || op == OP_NE) && n->op.left->kind == EXPR_BOOL && n->op.right->kind == EXPR_BOOL)
		become_bool(n, (a == b) == (op == OP_EQ));
}

bool fold_binop(struct expr *n)
{
	struct expr *a = n->op.left, *b = n->op.right;
	const char *text;
	enum op op = n->op.op;
	uint64_t value;
	__int128 v;
	bool u, truth;

	fold_texts(n);
	if (n->kind == EXPR_BINOP)
		fold_truth(n);
	if (n->kind != EXPR_BINOP || a->kind != EXPR_INT || b->kind != EXPR_INT)
		return true;
	u = a->integer.is_unsigned || (op != OP_SHR && b->integer.is_unsigned);
	if (compare(op, a->integer.value, b->integer.value, u, &truth)) {
		become_bool(n, truth);
	} else if (calculate(op, whole(a), whole(b), &v)) {
		if (!fits(v))
			return false;
		text = op == OP_ADD ? rest_of_param(a, b) : NULL;
		become_int(n, (uint64_t)v, v > INT64_MAX);
		n->integer.param = text;
	} else if (arith(op, a->integer.value, b->integer.value, u, &value)) {
		become_int(n, value, u || (op == OP_SHL && (int64_t)a->integer.value >= 0));
	}
	return true;
}

/* ---- functions for the rows of builtins ---- */

void check_becomes_bool(struct expr *n, bool value)
{
	fold_to_bool(n, value);
}

void check_becomes_int(struct expr *n, uint64_t value)
{
	fold_to_int(n, value);
}

void check_becomes_string(struct expr *n, const char *text)
{
	n->kind = EXPR_STRING;
	n->string.text = text;
	n->string.len = (uint32_t)strlen(text);
}
