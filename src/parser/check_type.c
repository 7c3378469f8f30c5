// SPDX-License-Identifier: Apache-2.0
/* check_type.c - which type holds the values of two, and the types that scripts name. */
#include <string.h>

#include "base/arena.h"
#include "checker.h"

bool type_is_number(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_BOOL || t->kind == TYPE_POINTER;
}

bool expr_is_weak(const struct expr *n)
{
	return n->kind == EXPR_INT && !n->integer.is_unsigned &&
	       (int64_t)n->integer.value >= 0;
}

const char *check_type_name(struct check *c, const struct type *t)
{
	return type_name(c->arena, t);
}

/* All integers of less than 64 bits fit in int64. */
static const struct type *stored_int(const struct type *t)
{
	return t->size == 8 ? type_int(8, t->is_signed) : type_int64;
}

static const struct type *stored_tuple(struct arena *a, const struct type *t)
{
	const struct type **members =
		arena_new_array(a, const struct type *, t->tuple.n + 1);

	for (unsigned i = 0; i < t->tuple.n; i++)
		members[i] = type_stored(a, t->tuple.members[i]);
	return type_tuple(a, members, t->tuple.n);
}

const struct type *type_stored(struct arena *a, const struct type *t)
{
	if (t->kind == TYPE_INT)
		return stored_int(t);
	if (t->kind == TYPE_TUPLE)
		return stored_tuple(a, t);
	return t;
}

/* int64 and uint64 become int64: small negative numbers are more frequent than those beyond 2^63. */
static const struct type *join_int(const struct type *x, const struct type *y)
{
	if (x->size == y->size && x->is_signed == y->is_signed)
		return x;
	x = stored_int(x);
	y = stored_int(y);
	return x->is_signed ? x : y;
}

static const struct type *join_tuple(
	struct arena *a, const struct type *x, const struct type *y)
{
	const struct type **members;

	if (x->tuple.n != y->tuple.n)
		return NULL;
	members = arena_new_array(a, const struct type *, x->tuple.n + 1);
	for (unsigned i = 0; i < x->tuple.n; i++) {
		members[i] = type_join(a, x->tuple.members[i], y->tuple.members[i]);
		if (!members[i])
			return NULL;
	}
	return type_tuple(a, members, x->tuple.n);
}

static const struct type *join_stack(const struct type *x, const struct type *y)
{
	if (x->stack.lang != y->stack.lang || x->stack.mode != y->stack.mode)
		return NULL;
	return x->stack.limit >= y->stack.limit ? x : y;
}

static const struct type *join_agg(const struct type *x, const struct type *y)
{
	if (x->agg.kind != y->agg.kind || x->agg.bits != y->agg.bits ||
		x->agg.min != y->agg.min || x->agg.max != y->agg.max ||
		x->agg.step != y->agg.step)
		return NULL;
	return x->is_signed ? x : y;
}

const struct type *type_join(struct arena *a, const struct type *x, const struct type *y)
{
	if (x->kind == TYPE_BAD)
		return y;
	if (y->kind == TYPE_BAD || type_eq(x, y))
		return x;
	if (x->kind == TYPE_POINTER && (y->kind == TYPE_INT || y->kind == TYPE_POINTER))
		return x;
	if (x->kind == TYPE_INT && y->kind == TYPE_POINTER)
		return y;
	/* A bool counts as 0 or 1: comparisons gave those before there was bool. */
	if (x->kind == TYPE_BOOL && y->kind == TYPE_INT)
		return stored_int(y);
	if (x->kind == TYPE_INT && y->kind == TYPE_BOOL)
		return stored_int(x);
	if (x->kind != y->kind)
		return NULL;
	switch (x->kind) {
	case TYPE_INT:
		return join_int(x, y);
	case TYPE_STRING:
		return x->size >= y->size ? x : y;
	case TYPE_TUPLE:
		return join_tuple(a, x, y);
	case TYPE_STACK:
		return join_stack(x, y);
	case TYPE_AGG:
		return join_agg(x, y);
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_BOOL:
	case TYPE_BUFFER:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_POINTER:
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_PLACE:
	case TYPE_ARGS:
		return NULL;
	}
	return NULL;
}

/* ---- types that the script names ---- */

static const struct type *bpftrace_has(struct check *c, const struct type_name *t, const char *what)
{
	return check_fail(c, t->span, DIAG_TYPE_NAME, "bpftrace has %s types; strata does not yet: %s",
		what, t->text);
}

static const struct type *unknown_type(struct check *c, const struct type_name *t)
{
	check_fail(c, t->span, DIAG_TYPE_NAME, "unknown type: %s", t->text);
	check_hint(c, "types are int8 to int64, uint8 to uint64, bool and string[N]");
	return type_bad;
}

const struct type *check_type(struct check *c, const struct type_name *t)
{
	switch (t->form) {
	case TYPE_FORM_KNOWN:
		return t->type;
	case TYPE_FORM_TYPEOF:
		return check_value(c, t->of);
	case TYPE_FORM_SIZE:
		return check_fail(c, t->span, DIAG_TYPE_NAME, "a string has 1 to %u bytes",
			TYPE_STRING_MAX);
	case TYPE_FORM_C:
		return bpftrace_has(c, t, "C's");
	case TYPE_FORM_TAG:
		return bpftrace_has(c, t, "struct, union and enum");
	case TYPE_FORM_POINTER:
		return bpftrace_has(c, t, "pointer");
	case TYPE_FORM_ARRAY:
		return bpftrace_has(c, t, "array");
	case TYPE_FORM_STRING:
	case TYPE_FORM_UNKNOWN:
		break;
	}
	return unknown_type(c, t);
}
