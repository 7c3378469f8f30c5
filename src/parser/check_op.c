// SPDX-License-Identifier: Apache-2.0
/* check_op.c - the types of operands and results.
 *
 * Arithmetic has 64 bits, as in bpftrace. It is signed if one side is signed; a difference is always signed.
 * Literals that are not negative, and variables and maps that only hold such literals, take the sign of the
 * other side. Comparisons give bool, and so does arithmetic of two bools. */
#include <string.h>

#include "base/arena.h"
#include "builtin_names.h"
#include "checker.h"
#include "model/facts.h"

static const struct type *wrong_operand(
	struct check *c, struct span at, enum op op, const struct type *t)
{
	return check_fail(c, at, DIAG_OPERAND, "%s does not work on %s", op_text(op),
		check_type_name(c, t));
}

static const struct type *wrong_pointer(struct check *c, struct span at, enum op op, const struct type *t)
{
	wrong_operand(c, at, op, t);
	check_hint(c, "as a number it is (uint64)..");
	return type_bad;
}

static bool unsigned64(const struct expr *n)
{
	return n->type->kind == TYPE_INT && n->type->size == 8 && !n->type->is_signed;
}

/* ---- unary ---- */

static bool is_step(enum op op)
{
	return op == OP_PREINC || op == OP_PREDEC || op == OP_POSTINC || op == OP_POSTDEC;
}

/* Returns the type of the result of - or ~: unsigned numbers keep their size, so that ~(uint8)5 is 250. */
static const struct type *bits_type(const struct type *t)
{
	t = type_natural(t);
	return t->kind == TYPE_INT && t->is_signed ? type_int64 : t->kind == TYPE_BOOL ? type_int64 : type_uint64;
}

static const struct type *check_neg(struct check *c, struct expr *n)
{
	const struct expr *arg = n->op.left;

	if (arg->kind == EXPR_INT && arg->integer.is_unsigned &&
		-arg->integer.value != arg->integer.value)
		return check_fail(c, n->span, DIAG_LITERAL,
			"-%llu does not fit in 64 bits",
			(unsigned long long)arg->integer.value);
	fold_unop(n);
	return n->kind == EXPR_INT ? type_of_literal(n->integer.value, false) : bits_type(arg->type);
}

const struct type *check_unop(struct check *c, struct expr *n)
{
	struct expr *arg = n->op.left;
	const struct type *t;

	if (is_step(n->op.op))
		return check_counted(c, arg, n->op.op == OP_PREDEC || n->op.op == OP_POSTDEC);
	if (n->op.op == OP_NOT) {
		if (!check_truth(c, arg))
			return type_bad;
		fold_unop(n);
		return type_bool;
	}
	if (n->op.op == OP_DEREF)
		return check_deref(c, n);
	if (n->op.op == OP_ADDRESS)
		return check_address(c, n);
	t = check_value(c, arg);
	if (t->kind == TYPE_BAD)
		return t;
	if (!type_is_number(t) || (n->op.op == OP_BNOT && t->kind == TYPE_BOOL))
		return wrong_operand(c, n->span, n->op.op, t);
	if (n->op.op == OP_NEG && t->kind == TYPE_POINTER)
		return wrong_pointer(c, n->span, n->op.op, t);
	if (n->op.op == OP_NEG)
		return check_neg(c, n);
	fold_unop(n);
	return n->kind == EXPR_INT ? type_uint64 : bits_type(t);
}

/* ---- arithmetic ---- */

static bool divides(struct check *c, const struct expr *right)
{
	int64_t v;

	if (!expr_is_const(right, &v) || v != 0)
		return true;
	check_fail(c, right->span, DIAG_DIVISION, "division by zero");
	return false;
}

static void check_shift(struct check *c, const struct expr *right)
{
	int64_t v;

	if (expr_is_const(right, &v) && (v < 0 || v > 63)) {
		check_warn(c, right->span, DIAG_SHIFT,
			"a shift by %lld: there are 64 bits", (long long)v);
		check_hint(c, "only the lowest six bits of the count are used");
	}
}

/* Returns whether the operation makes no sense for addresses: a product, or a sum of two addresses. Masks
 * and right shifts make sense (p & 0xfff, p >> 12). */
static bool is_no_address(enum op op, const struct type *l, const struct type *r)
{
	bool left = l->kind == TYPE_POINTER, right = r->kind == TYPE_POINTER;

	switch ((int)op) {
	case OP_ADD:
		return left && right;
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
	case OP_SHL:
		return left || right;
	default:
		return op == OP_SHR && right;
	}
}

/* Warns about signs: both sides are cast to the type of the result, as in bpftrace. */
static void warn_sign(struct check *c, struct span at, enum op op, const struct expr *l, const struct expr *r)
{
	const struct expr *u = unsigned64(l) ? l : r, *other = u == l ? r : l;
	int64_t v;

	if (op == OP_SUB || !unsigned64(u) || !type_is_negative(other->type) || (expr_is_const(u, &v) && v >= 0))
		return;
	check_warn(c, at, DIAG_SIGN, "uint64 counts as int64 here, since the other side is %s: "
		"from 2^63 on it is negative", check_type_name(c, other->type));
	check_hint(c, "a cast says which is meant: (int64).. or (uint64)..");
}

/* Returns the type of arithmetic on integers and bools. */
static const struct type *arith_type(enum op op, const struct type *l, const struct type *r)
{
	bool weak = type_is_weak(l) && type_is_weak(r);

	return op == OP_SUB || weak || type_is_negative(l) || type_is_negative(r) ? type_int64 : type_uint64;
}

const struct type *check_arith(struct check *c, struct span at, enum op op,
	struct expr *left, struct expr *right)
{
	const struct type *l = left->type, *r = right->type;

	if (l->kind == TYPE_BAD || r->kind == TYPE_BAD)
		return type_bad;
	if (!type_is_number(l))
		return wrong_operand(c, at, op, l);
	if (!type_is_number(r))
		return wrong_operand(c, at, op, r);
	if (is_no_address(op, l, r))
		return wrong_pointer(c, at, op, l->kind == TYPE_POINTER ? l : r);
	if ((op == OP_DIV || op == OP_MOD) && !divides(c, right))
		return type_bad;
	if (op == OP_SHL || op == OP_SHR)
		check_shift(c, right);
	else if (l->kind == TYPE_BOOL && r->kind == TYPE_BOOL)
		return type_bool;
	if ((op == OP_ADD || op == OP_SUB) && l->kind == TYPE_POINTER && r->kind == TYPE_INT)
		return type_stored(c->arena, l);
	if (op == OP_ADD && l->kind == TYPE_INT && r->kind == TYPE_POINTER)
		return type_stored(c->arena, r);
	if (op == OP_SUB && r->kind == TYPE_POINTER) {
		wrong_operand(c, at, op, r);
		check_hint(c, "the bytes between two addresses: (uint64)a - (uint64)b");
		return type_bad;
	}
	warn_sign(c, at, op, left, right);
	return arith_type(op, l, r);
}

/* ---- comparison ---- */

/* Joins two literals into one. */
static void join_literals(struct check *c, struct expr *n)
{
	const struct expr *l = n->op.left, *r = n->op.right;
	const char *text;

	if (l->kind != EXPR_STRING || r->kind != EXPR_STRING || strlen(l->string.text) != l->string.len)
		return;
	text = arena_printf(c->arena, "%s%s", l->string.text, r->string.text);
	n->kind = EXPR_STRING;
	n->string.len = l->string.len + r->string.len;
	n->string.text = text;
}

/* "abc" + 1 is "bc", as with pointers in C. */
static bool skip_text(struct check *c, struct expr *n)
{
	struct expr *text = n->op.left->kind == EXPR_STRING ? n->op.left : n->op.right;
	struct expr *number = text == n->op.left ? n->op.right : n->op.left;
	const char *from;
	int64_t skip;
	uint32_t len;

	if (n->op.op != OP_ADD || text->kind != EXPR_STRING || !expr_is_const(number, &skip) || skip < 0)
		return false;
	from = text->string.text;
	len = text->string.len;
	if (skip >= len)
		check_warn(c, n->span, DIAG_RANGE, "this text is always empty: it has %u bytes", len);
	skip = skip < len ? skip : len;
	n->kind = EXPR_STRING;
	n->string.text = from + skip;
	n->string.len = len - (uint32_t)skip;
	return true;
}

/* "a" + "b" is both texts, one after the other. */
static const struct type *join_text(struct check *c, struct expr *n)
{
	uint64_t size = (uint64_t)n->op.left->type->size + n->op.right->type->size - 1;

	if (size > TYPE_STRING_MAX)
		return check_fail(c, n->span, DIAG_RANGE, "a string has at most %u bytes, these have %llu",
			TYPE_STRING_MAX, (unsigned long long)size);
	join_literals(c, n);
	return type_string(c->arena, (uint32_t)size);
}

static const struct type *not_comparable(struct check *c, struct expr *n)
{
	bool frame = n->op.left->type->kind == TYPE_FRAME || n->op.right->type->kind == TYPE_FRAME;

	check_fail(c, n->span, DIAG_OPERAND, "%s cannot be compared with %s by %s",
		check_type_name(c, n->op.left->type),
		check_type_name(c, n->op.right->type), op_text(n->op.op));
	if (type_is_has_frame(n->op.left->type) || type_is_has_frame(n->op.right->type))
		check_hint(c, "has_frame() is a condition: write has_frame(..) or !has_frame(..)");
	else if (frame)
		check_hint(c, "a frame gets its name after the event; as a key, @[ustack[0].func], it counts each "
			"function");
	return type_bad;
}

/* Returns whether `probe` or `func` is compared with text, which compares names. */
static bool place_and_text(const struct expr *a, const struct expr *b)
{
	return a->type->kind == TYPE_PLACE && b->kind == EXPR_STRING;
}

static bool equality_fits(struct check *c, const struct expr *l, const struct expr *r)
{
	if (place_and_text(l, r) || place_and_text(r, l))
		return true;
	if (type_is_number(l->type) && type_is_number(r->type))
		return true;
	if (l->type->kind == TYPE_AGG)
		return false;
	return type_join(c->arena, l->type, r->type) != NULL;
}

static bool is_container(const struct expr *n)
{
	return n->type->kind == TYPE_SHOWN && (n->type->shown.as == SHOWN_CONTAINER || n->type->shown.as == SHOWN_POD);
}

/* Returns whether the text is "" and is compared with a pod: the text becomes any pod, with the opposite sense. */
static bool is_no_pod(const struct expr *what, struct expr *text)
{
	if (what->type->shown.as != SHOWN_POD || *text->string.text)
		return false;
	text->string.text = "*";
	text->string.len = 1;
	return true;
}

/* Turns container == "x" into in_container(container, "x"), and != into its opposite. */
static const struct type *compare_container(struct check *c, struct expr *n)
{
	struct expr *call = arena_new_obj(c->arena, struct expr), *next = n->next;
	struct expr *l = n->op.left, *r = n->op.right;
	bool is_right = is_container(r), is_equal = n->op.op == OP_EQ;

	*call = (struct expr){.kind = EXPR_CALL, .span = n->span, .depth = n->depth};
	call->call.name = "in_container";
	call->call.builtin = builtin_find(c->lang, "in_container");
	call->call.nargs = 2;
	call->call.parens = true;
	call->call.args = is_right ? r : l;
	call->call.args->next = is_right ? l : r;
	call->call.args->next->next = NULL;
	if (is_equal ^ is_no_pod(call->call.args, call->call.args->next)) {
		*n = *call;
	} else {
		n->kind = EXPR_UNOP;
		n->op.op = OP_NOT;
		n->op.left = call;
		n->op.right = NULL;
	}
	n->next = next;
	return check_expr(c, n);
}

static const struct type *check_compare(struct check *c, struct expr *n)
{
	struct expr *l = n->op.left, *r = n->op.right;
	bool numbers = type_is_number(l->type) && type_is_number(r->type);

	if (n->op.op == OP_EQ || n->op.op == OP_NE) {
		if ((is_container(l) && r->kind == EXPR_STRING) || (is_container(r) && l->kind == EXPR_STRING))
			return compare_container(c, n);
		if (!equality_fits(c, l, r))
			return not_comparable(c, n);
		return type_bool;
	}
	if (l->type->kind == TYPE_STRING && r->type->kind == TYPE_STRING)
		return type_bool;
	if (!numbers)
		return not_comparable(c, n);
	warn_sign(c, n->span, n->op.op, l, r);
	return type_bool;
}

/* Tuples of two and of three members are never equal. In the last round their sizes are known. */
static bool other_shapes(struct check *c, struct expr *n)
{
	const struct type *l = n->op.left->type, *r = n->op.right->type;

	if ((n->op.op != OP_EQ && n->op.op != OP_NE) || l->kind != TYPE_TUPLE || r->kind != TYPE_TUPLE ||
		l->tuple.n == r->tuple.n)
		return false;
	if (c->final)
		fold_to_bool(n, n->op.op == OP_NE);
	return true;
}

static bool not_yet_known(const struct expr *n)
{
	return n->kind == EXPR_MAP && !n->map.map->value;
}

/* Returns whether `@x = @x + 1` is the only source for the type of @x, which is a number then. */
static bool counts_itself(const struct expr *l, const struct expr *r)
{
	return (not_yet_known(l) && (not_yet_known(r) || type_is_number(r->type))) ||
	       (not_yet_known(r) && type_is_number(l->type));
}

const struct type *check_binop(struct check *c, struct expr *n)
{
	enum op op = n->op.op;
	bool compares = op >= OP_EQ && op <= OP_GE;
	const struct type *t;

	if (op == OP_LOR || op == OP_LAND) {
		bool left = check_truth(c, n->op.left);

		if (!check_truth(c, n->op.right) || !left)
			return type_bad;
		fold_binop(n);
		return type_bool;
	}
	check_value(c, n->op.left);
	check_value(c, n->op.right);
	if (c->guessing && !compares && counts_itself(n->op.left, n->op.right))
		return type_int64;
	if (c->guessing && compares && (not_yet_known(n->op.left) || not_yet_known(n->op.right)))
		return type_bool;
	if (n->op.left->type->kind == TYPE_BAD || n->op.right->type->kind == TYPE_BAD)
		return type_bad;
	if (skip_text(c, n))
		return type_string(c->arena, n->string.len + 1);
	if (other_shapes(c, n))
		return type_bool;
	if (compares)
		t = check_compare(c, n);
	else if (op == OP_ADD && n->op.left->type->kind == TYPE_STRING &&
		 n->op.right->type->kind == TYPE_STRING)
		return join_text(c, n);
	else
		t = check_arith(c, n->span, op, n->op.left, n->op.right);
	if (t->kind != TYPE_BAD && !fold_binop(n))
		return check_fail(c, n->span, DIAG_LITERAL, "the result does not fit in 64 bits");
	return n->kind == EXPR_INT ? type_of_literal(n->integer.value, n->integer.is_unsigned) : t;
}

/* ---- ?: and sizeof ---- */

/* Returns the side of ?: that is taken, or NULL if that is not known. */
static struct expr *constant_side(const struct expr *n)
{
	const struct expr *test = n->cond.test;
	bool truth;

	if (test->kind == EXPR_BOOL)
		truth = test->boolean;
	else if (test->kind == EXPR_INT)
		truth = test->integer.value;
	else
		return NULL;
	if (!truth)
		return n->cond.els;
	return n->cond.then ? n->cond.then : n->cond.test;
}

static const struct type *take_side(struct expr *n, const struct expr *side)
{
	struct expr *next = n->next;

	*n = *side;
	n->next = next;
	return n->type;
}

const struct type *check_ternary(struct check *c, struct expr *n)
{
	struct expr *then = n->cond.then ? n->cond.then : n->cond.test,
		    *els = n->cond.els;
	const struct type *a, *b, *t;

	check_truth(c, n->cond.test);
	a = n->cond.then ? check_expr(c, then) : then->type;
	b = check_expr(c, els);
	if (c->guessing && (not_yet_known(then) || not_yet_known(els))) /* @m = x ? @m : 1 */
		return not_yet_known(then) ? b : a;
	if (a->kind == TYPE_BAD || b->kind == TYPE_BAD)
		return type_bad;
	if (a->kind == TYPE_NONE && b->kind == TYPE_NONE)
		return type_none;
	t = type_join(c->arena, a, b);
	if (!t && constant_side(n))
		return take_side(n, constant_side(n));
	if (!t || a->kind == TYPE_NONE || a->kind == TYPE_ARGS)
		return check_fail(c, n->span, DIAG_OPERAND,
			"the two sides of ?: have different types, %s and %s", check_type_name(c, a),
			check_type_name(c, b));
	return t;
}

/* The size of a value may grow from round to round, so it becomes a constant in the last round. */
const struct type *check_sizeof(struct check *c, struct expr *n)
{
	const struct type *t =
		n->size.type ? check_value_type(c, n->size.type) : check_value(c, n->size.value);

	if (t->kind == TYPE_BAD)
		return t;
	n->size.bytes = type_text_bytes(t->kind == TYPE_STRUCT ? types_complete(c->req->types, t) : type_natural(t));
	if (c->final || (c->comptime && n->size.type && !type_name_expr(n->size.type)))
		fold_to_int(n, n->size.bytes);
	facts_layout(c->req->facts, t->kind == TYPE_STRUCT ? types_complete(c->req->types, t) : t);
	return type_uint64;
}
