// SPDX-License-Identifier: Apache-2.0
/* check_type.c - finds the type that holds the values of two types, and the types that scripts name. */
#include <string.h>

#include "base/arena.h"
#include "checker.h"

bool type_is_number(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_BOOL || t->kind == TYPE_POINTER;
}

bool type_is_weak(const struct type *t)
{
	return t->kind == TYPE_INT && type_natural(t)->integer.weak;
}

bool type_is_negative(const struct type *t)
{
	t = type_natural(t);
	return t->kind == TYPE_INT && t->is_signed && !t->integer.weak;
}

const char *check_type_name(struct check *c, const struct type *t)
{
	return type_name(c->arena, t);
}

/* All integers of less than 64 bits fit in int64. An enum stays an enum, since its values have names. */
static const struct type *stored_int(const struct type *t)
{
	return t->integer.names ? t : type_int_in_word(t);
}

const struct type *type_of_literal(uint64_t value, bool is_unsigned)
{
	int64_t v = (int64_t)value;

	if (is_unsigned)
		return type_uint64;
	for (uint32_t size = 1; size < 8; size *= 2)
		if (v >= -((int64_t)1 << (8 * size - 1)) && v < (int64_t)1 << (8 * size - 1))
			return v < 0 ? type_int(size, true) : type_weak_int(size);
	return v < 0 ? type_int64 : type_weak_int(8);
}

bool type_fits(const struct type *t, uint64_t value, bool is_unsigned)
{
	unsigned bits = 8 * t->size - t->is_signed;

	if (!is_unsigned && (int64_t)value < 0)
		return t->is_signed && (bits >= 63 || (int64_t)value >= -((int64_t)1 << bits));
	return bits >= 64 || value < (uint64_t)1 << bits;
}

static const struct type *stored_tuple(struct arena *a, const struct type *t)
{
	const struct type **members =
		arena_new_array(a, const struct type *, t->tuple.n + 1);

	for (unsigned i = 0; i < t->tuple.n; i++)
		members[i] = type_stored(a, t->tuple.members[i]);
	return type_record(a, members, t->tuple.names, t->tuple.n);
}

const struct type *type_stored(struct arena *a, const struct type *t)
{
	if (t->kind == TYPE_INT)
		return stored_int(t);
	if (t->kind == TYPE_TUPLE)
		return stored_tuple(a, t);
	return t;
}

/* int64 and uint64 become int64: small negative numbers are more frequent than numbers of 2^63 and more. An
 * enum and another integer become an integer. */
static const struct type *join_natural(const struct type *x, const struct type *y)
{
	uint32_t u = x->is_signed ? y->size : x->size, s = x->is_signed ? x->size : y->size;
	uint32_t size = x->size > y->size ? x->size : y->size;

	if (x->integer.weak && y->integer.weak)
		return type_weak_int(size);
	if (x->integer.weak || y->integer.weak)
		return type_int(size, x->integer.weak ? y->is_signed : x->is_signed);
	if (x->is_signed == y->is_signed)
		return type_int(size, x->is_signed);
	return type_int(s > u ? s : u == 8 ? 8 : 2 * u, true);
}

static const struct type *join_int(const struct type *x, const struct type *y)
{
	const struct type *both = join_natural(type_natural(x), type_natural(y));

	return x->integer.natural || y->integer.natural ? type_int_in_word(both) : both;
}

static const struct type *join_tuple(
	struct arena *a, const struct type *x, const struct type *y)
{
	const struct type **members;

	if (x->tuple.n != y->tuple.n || !x->tuple.names != !y->tuple.names)
		return NULL;
	members = arena_new_array(a, const struct type *, x->tuple.n + 1);
	for (unsigned i = 0; i < x->tuple.n; i++) {
		int k = type_tuple_member(y, x, i);

		members[i] = k < 0 ? NULL : type_join(a, x->tuple.members[i], y->tuple.members[k]);
		if (!members[i])
			return NULL;
	}
	return type_record(a, members, x->tuple.names, x->tuple.n);
}

/* One of the pointers may point to void, or to an unknown address space. */
static const struct type *join_pointer(
	struct arena *a, const struct type *x, const struct type *y)
{
	const struct type *to = x->pointer.to;

	if (to->kind == TYPE_NONE)
		to = y->pointer.to;
	else if (y->pointer.to->kind != TYPE_NONE && !type_eq(to, y->pointer.to))
		return NULL;
	return type_pointer(a, to,
		x->pointer.space == y->pointer.space ? x->pointer.space : SPACE_ANY);
}

static const struct type *join_stack(const struct type *x, const struct type *y)
{
	if (x->stack.lang != y->stack.lang || x->stack.mode != y->stack.mode || !type_same_part(x, y))
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

/* A bool counts as 0 or 1, since comparisons gave these before there was bool. A kernel symbol may be known
 * by its address or as a place's function. */
static const struct type *join_kinds(const struct type *x, const struct type *y)
{
	if (x->kind == TYPE_BOOL && y->kind == TYPE_INT)
		return stored_int(y);
	if (x->kind == TYPE_KSYM && y->kind == TYPE_PLACE && y->place.kernel)
		return x;
	return NULL;
}

const struct type *type_join(struct arena *a, const struct type *x, const struct type *y)
{
	if (x->kind == TYPE_BAD)
		return y;
	if (y->kind == TYPE_BAD || type_same(x, y))
		return x;
	if (x->kind != y->kind)
		return join_kinds(x, y) ? join_kinds(x, y) : join_kinds(y, x);
	switch (x->kind) {
	case TYPE_INT:
		return join_int(x, y);
	case TYPE_STRING:
	case TYPE_BUFFER:
		return x->size >= y->size ? x : y;
	case TYPE_POINTER:
		return join_pointer(a, x, y);
	case TYPE_TUPLE:
		return join_tuple(a, x, y);
	case TYPE_STACK:
		return join_stack(x, y);
	case TYPE_AGG:
		return join_agg(x, y);
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_BOOL:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_PLACE:
	case TYPE_INET:
	case TYPE_SHOWN:
	case TYPE_FRAME:
	case TYPE_ARGS:
		return NULL;
	}
	return NULL;
}

/* ---- types that scripts name ---- */

enum { ARRAY_BYTES_MAX = 16384 };

static const struct type *unknown_type(struct check *c, const struct type_name *t, enum type_tag tag)
{
	const char *near = NULL, *name = t->words ? strchr(t->words, ' ') : NULL;

	check_fail(c, t->span, DIAG_TYPE_NAME, "unknown type: %s", t->text);
	if (c->final && c->req->types && t->words)
		near = types_nearest(c->req->types, tag, name && tag != TAG_NAME ? name + 1 : t->words);
	if (near)
		check_hint(c, "did you mean %s?", near);
	else if (c->req->types && types_missing_header(c->req->types))
		check_hint(c, "the kernel's <%s> may define it: install the kernel's headers (the package "
			"linux-headers-$(uname -r) or kernel-devel)", types_missing_header(c->req->types));
	else
		check_hint(c, "types are int8 to int64, uint8 to uint64, bool, string[N], and the "
			"kernel's: struct task_struct");
	return type_bad;
}

/* Returns the C type for some words in any order: "unsigned long int". */
static const struct type *c_type(struct check *c, const struct type_name *t)
{
	bool is_unsigned = strstr(t->words, "unsigned"), is_char = strstr(t->words, "char");
	const char *longs = strstr(t->words, "long");

	if (!strcmp(t->words, "void"))
		return type_none;
	if (strstr(t->words, "float") || strstr(t->words, "double") || strstr(t->words, "void"))
		return check_fail(c, t->span, DIAG_TYPE_NAME, "there are no floating-point numbers "
			"in BPF: %s", t->text);
	if (is_char)
		return type_c_int(c->arena, 1, !is_unsigned, is_unsigned ? "unsigned char" : "char");
	if (strstr(t->words, "short"))
		return type_int(2, !is_unsigned);
	return type_int(longs ? 8 : 4, !is_unsigned);
}

static const struct type *tagged_type(struct check *c, const struct type_name *t)
{
	const char *name = strchr(t->words, ' ') + 1;
	enum type_tag tag = *t->words == 's' ? TAG_STRUCT : *t->words == 'u' ? TAG_UNION : TAG_ENUM;
	const struct type *found = c->req->types ? types_find(c->req->types, tag, name) : NULL;

	return found ? found : unknown_type(c, t, tag);
}

static const struct type *named_type(struct check *c, const struct type_name *t)
{
	const struct type *found =
		c->req->types ? types_find(c->req->types, TAG_NAME, t->words) : NULL;

	return found ? found : unknown_type(c, t, TAG_NAME);
}

static const struct type *sized(struct check *c, const struct type_name *t)
{
	uint64_t max = t->form == TYPE_FORM_STRING ? TYPE_STRING_MAX : TYPE_BUFFER_MAX;

	if (!t->n) {
		check_fail(c, t->span, DIAG_TYPE_NAME, "%s needs a size", t->text);
		check_hint(c, "write %.*s[64]", (int)strcspn(t->text, "["), t->text);
		return type_bad;
	}
	if (t->n > max)
		return check_fail(c, t->span, DIAG_TYPE_NAME, "a %s has 1 to %llu bytes",
			t->form == TYPE_FORM_STRING ? "string" : "buffer", (unsigned long long)max);
	return t->form == TYPE_FORM_STRING ? type_string(c->arena, (uint32_t)t->n) :
					     type_buffer(c->arena, (uint32_t)t->n);
}

static const struct type *array_type(struct check *c, const struct type_name *t)
{
	const struct type *of = check_type(c, t->inner);

	if (of->kind == TYPE_BAD)
		return of;
	if (of->kind == TYPE_NONE || !of->size)
		return check_fail(c, t->span, DIAG_TYPE_NAME, "there is no array of %s", t->inner->text);
	if (t->n > ARRAY_BYTES_MAX / of->size)
		return check_fail(c, t->span, DIAG_TYPE_NAME, "an array has at most %u bytes",
			ARRAY_BYTES_MAX);
	return type_array(c->arena, of, (uint32_t)t->n);
}

static const struct type *find_type(struct check *c, const struct type_name *t)
{
	switch (t->form) {
	case TYPE_FORM_KNOWN:
		return t->type;
	case TYPE_FORM_TYPEOF:
		return check_value(c, t->of);
	case TYPE_FORM_STRING:
	case TYPE_FORM_BUFFER:
		return sized(c, t);
	case TYPE_FORM_C:
		return c_type(c, t);
	case TYPE_FORM_NAME:
		return named_type(c, t);
	case TYPE_FORM_TAG:
		return tagged_type(c, t);
	case TYPE_FORM_POINTER: {
		const struct type *to = check_type(c, t->inner);

		return to->kind == TYPE_BAD ? to : type_pointer(c->arena, to, SPACE_ANY);
	}
	case TYPE_FORM_ARRAY:
		return array_type(c, t);
	case TYPE_FORM_UNKNOWN:
		break;
	}
	return unknown_type(c, t, TAG_NAME);
}

const struct type *check_type(struct check *c, struct type_name *t)
{
	const struct type *found;

	if (t->form == TYPE_FORM_TYPEOF || !t->type || t->type->kind == TYPE_BAD) {
		found = find_type(c, t);
		if (t->form == TYPE_FORM_TYPEOF || found->kind == TYPE_BAD)
			return found;
		t->type = found;
	}
	return t->type;
}

const struct type *check_value_type(struct check *c, struct type_name *t)
{
	const struct type *found = check_type(c, t);

	if (found->kind == TYPE_NONE)
		return check_fail(c, t->span, DIAG_TYPE_NAME, "there are no values of type void");
	if (found->kind == TYPE_STRUCT && composite_of(found)->incomplete)
		return check_fail(c, t->span, DIAG_TYPE_NAME, "%s is declared, but nothing says what "
			"is in it", t->text);
	return found;
}
