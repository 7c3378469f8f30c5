// SPDX-License-Identifier: Apache-2.0
/* fold.c - an operator on constants becomes the constant, as the kernel would work it
 * out: 64 bits, wrapping. */
#include "checker.h"

static void become_int(struct expr *n, uint64_t value, bool is_unsigned)
{
	n->kind = EXPR_INT;
	n->integer.value = value;
	n->integer.is_unsigned = is_unsigned && value > INT64_MAX;
	n->integer.param = NULL;
}

static void become_bool(struct expr *n, bool value)
{
	n->kind = EXPR_BOOL;
	n->boolean = value;
}

void fold_unop(struct expr *n)
{
	struct expr *arg = n->op.left;

	if (arg->kind != EXPR_INT)
		return;
	if (n->op.op == OP_NEG)
		become_int(n, -arg->integer.value, false);
	else if (n->op.op == OP_BNOT)
		become_int(n, ~arg->integer.value, arg->integer.is_unsigned);
}

void fold_sizeof(struct expr *n)
{
	become_int(n, n->size.bytes, false);
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

/* INT64_MIN / -1 overflows; the kernel's division gives INT64_MIN. */
static uint64_t divide(bool mod, uint64_t a, uint64_t b, bool u)
{
	if (u)
		return mod ? a % b : a / b;
	if (b == UINT64_MAX)
		return mod ? 0 : -a;
	return (uint64_t)(mod ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool arith(enum op op, uint64_t a, uint64_t b, bool u, uint64_t *ret)
{
	switch ((int)op) {
	case OP_ADD:
		*ret = a + b;
		return true;
	case OP_SUB:
		*ret = a - b;
		return true;
	case OP_MUL:
		*ret = a * b;
		return true;
	case OP_AND:
		*ret = a & b;
		return true;
	case OP_OR:
		*ret = a | b;
		return true;
	case OP_XOR:
		*ret = a ^ b;
		return true;
	case OP_SHL: /* a count that is warned of stays to be seen */
		*ret = a << (b & 63);
		return b < 64;
	case OP_SHR:
		*ret = u ? a >> (b & 63) : (uint64_t)((int64_t)a >> (b & 63));
		return b < 64;
	case OP_DIV:
	case OP_MOD:
		if (b == 0)
			return false;
		*ret = divide(op == OP_MOD, a, b, u);
		return true;
	default:
		return false;
	}
}

void fold_binop(struct expr *n)
{
	struct expr *a = n->op.left, *b = n->op.right;
	enum op op = n->op.op;
	uint64_t value;
	bool u, truth;

	if (a->kind != EXPR_INT || b->kind != EXPR_INT)
		return;
	u = a->integer.is_unsigned || (op != OP_SHR && b->integer.is_unsigned);
	if (compare(op, a->integer.value, b->integer.value, u, &truth))
		become_bool(n, truth);
	else if (arith(op, a->integer.value, b->integer.value, u, &value))
		become_int(n, value, u && op != OP_SUB);
}
