// SPDX-License-Identifier: Apache-2.0
/* check_cast.c - decides which types can be cast to which. */
#include "base/arena.h"
#include "checker.h"

static const struct type *cannot(struct check *c, struct expr *n, const struct type *from)
{
	return check_fail(c, n->span, DIAG_CAST, "%s cannot be cast to %s", check_type_name(c, from),
		n->cast.to->text);
}

static bool is_int_array(const struct type *t)
{
	return t->kind == TYPE_ARRAY && (t->array.of->kind == TYPE_INT || t->array.of->kind == TYPE_BOOL);
}

/* (uint8[4])n gives an integer's bytes, (int8[])"text" a string's bytes. An array without a count gets as
 * many elements as fit. */
static const struct type *cast_to_array(
	struct check *c, struct expr *n, const struct type *to, const struct type *from)
{
	const struct type *of = to->array.of;
	uint32_t size = type_text_bytes(from);

	if (type_eq(to, from))
		return from;
	if (!is_int_array(to) || !(type_is_number(from) || from->kind == TYPE_STRING || is_int_array(from)))
		return cannot(c, n, from);
	if (!to->array.n) {
		if (size % of->size)
			return check_fail(c, n->span, DIAG_CAST, "%u bytes are no whole number of %s", size,
				check_type_name(c, of));
		return type_array(c->arena, of, size / of->size);
	}
	if (to->size != size && !(from->kind == TYPE_STRING && to->size >= size) &&
		!(n->cast.value->kind == EXPR_INT && type_is_weak(from) && to->size <= 8)) {
		check_fail(c, n->span, DIAG_CAST, "%s has %u bytes, %s has %u", check_type_name(c, from),
			size, n->cast.to->text, to->size);
		return type_bad;
	}
	return to;
}

static bool is_memory(const struct type *t)
{
	return t->kind == TYPE_POINTER || is_int_array(t) || t->kind == TYPE_STRING || t->kind == TYPE_BUFFER;
}

static const struct type *cast_to_int(
	struct check *c, struct expr *n, const struct type *to, const struct type *from)
{
	if (type_is_number(from) || from->kind == TYPE_KSYM)
		return to;
	if (is_int_array(from) && (from->size == to->size || to->kind == TYPE_BOOL) && from->size <= 8)
		return to;
	if (to->kind == TYPE_BOOL && (from->kind == TYPE_STRING || is_int_array(from)))
		return to;
	return cannot(c, n, from);
}

/* `(struct T)*e`: the value already has a type, which the cast may only repeat. */
static const struct type *cast_to_struct(
	struct check *c, struct expr *n, const struct type *to, const struct type *from)
{
	if (from->kind == TYPE_STRUCT && type_eq(to, from))
		return to;
	cannot(c, n, from);
	check_hint(c, "a pointer is cast, then read: *(%s *)..", n->cast.to->text);
	return type_bad;
}

/* A pointer keeps the address space of the pointer that is cast. A string's bytes lie in the kernel. */
static const struct type *cast_to_pointer(
	struct check *c, struct expr *n, const struct type *to, const struct type *from)
{
	if (from->kind == TYPE_STRING)
		return type_pointer(c->arena, to->pointer.to, SPACE_KERNEL);
	if (!type_is_number(from) && from->kind != TYPE_KSYM && !(is_int_array(from) && from->size == 8))
		return cannot(c, n, from);
	if (from->kind == TYPE_POINTER)
		return type_pointer(c->arena, to->pointer.to, from->pointer.space);
	return to;
}

const struct type *check_cast(struct check *c, struct expr *n)
{
	const struct type *from = check_value(c, n->cast.value);
	const struct type *to = check_value_type(c, n->cast.to);

	if (to->kind == TYPE_BAD || from->kind == TYPE_BAD)
		return to;
	switch ((int)to->kind) {
	case TYPE_INT:
	case TYPE_BOOL:
		return cast_to_int(c, n, to, from);
	case TYPE_POINTER:
		return cast_to_pointer(c, n, to, from);
	case TYPE_ARRAY:
		return cast_to_array(c, n, to, from);
	case TYPE_STRUCT:
		return cast_to_struct(c, n, to, from);
	case TYPE_STRING:
		if (from->kind == TYPE_STRING && type_text_bytes(from) == to->size)
			return from;
		/* fallthrough */
	case TYPE_BUFFER:
		if (to->kind == from->kind ? from->size <= to->size : is_memory(from))
			return to;
		break;
	default:
		if (type_eq(to, from))
			return to;
	}
	return cannot(c, n, from);
}
