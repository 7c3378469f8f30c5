// SPDX-License-Identifier: Apache-2.0
/* check_expr.c - the types of expressions; those of operators are in check_op.c, of
 * calls in check_call.c, of maps and variables in check_map.c. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "checker.h"
#include "model/attach_point.h"

/* ---- args.x, $t.0, $t[0], $s[i] ---- */

/* Places of one probe may have the field with different types. */
static const struct type *field_type(
	struct check *c, struct expr *n, const struct field *f)
{
	const struct type *t = f->type;

	for (struct attach_point *ap = c->probe->points; ap; ap = ap->next) {
		for (const struct place *p = ap->places; p; p = p->next) {
			for (const struct field *other = p->fields; other;
				other = other->next) {
				const struct type *both;

				if (strcmp(other->name, f->name) != 0)
					continue;
				both = type_join(c->arena, t, other->type);
				if (!both) {
					check_fail(c, n->span, DIAG_FIELD,
						"args.%s is %s in one of the places, %s "
						"in another",
						f->name, check_type_name(c, t),
						check_type_name(c, other->type));
					check_hint(
						c, "give %s a probe of its own", p->name);
					return type_bad;
				}
				t = both;
			}
		}
	}
	return t;
}

static void hint_field(struct check *c, const char *written)
{
	const char **names, *near;
	size_t n = 0;

	for (const struct field *f = c->probe->fields; f; f = f->next)
		n++;
	names = arena_new_array(c->arena, const char *, n + 1);
	n = 0;
	for (const struct field *f = c->probe->fields; f; f = f->next)
		names[n++] = f->name;
	near = nearest(written, names, n);
	if (near)
		check_hint(c, "did you mean args.%s?", near);
	else if (n == 1)
		check_hint(c, "there is args.%s", names[0]);
}

static const struct type *check_args_field(struct check *c, struct expr *n)
{
	const struct field *f = c->probe->fields;

	while (f && strcmp(f->name, n->field.name) != 0)
		f = f->next;
	n->field.field = f;
	if (f)
		return field_type(c, n, f);
	for (struct attach_point *ap = c->probe->points; ap; ap = ap->next)
		if (!ap->places) /* it was told already why */
			return type_bad;
	check_fail(c, n->span, DIAG_FIELD, "args has no field %s", n->field.name);
	hint_field(c, n->field.name);
	return type_bad;
}

static const struct type *tuple_member(
	struct check *c, struct expr *n, const struct type *t, uint64_t i)
{
	if (i < t->tuple.n)
		return t->tuple.members[i];
	check_fail(c, n->span, DIAG_FIELD, "a tuple of %u has members .0 to .%u",
		t->tuple.n, t->tuple.n - 1);
	return type_bad;
}

static const struct type *check_field(struct check *c, struct expr *n)
{
	const struct type *t = check_expr(c, n->field.object);
	const char *name = n->field.name;

	if (t->kind == TYPE_BAD)
		return t;
	if (t->kind == TYPE_ARGS)
		return check_args_field(c, n);
	if (t->kind != TYPE_TUPLE)
		return check_fail(c, n->span, DIAG_FIELD, "%s has no fields",
			check_type_name(c, t));
	if (strspn(name, "0123456789") != strlen(name) || strlen(name) > 6)
		return check_fail(c, n->span, DIAG_FIELD,
			"the members of a tuple are numbered: .0, not .%s", name);
	n->field.index = (unsigned)strtoul(name, NULL, 10);
	return tuple_member(c, n, t, n->field.index);
}

static const struct type *check_index(struct check *c, struct expr *n)
{
	const struct type *t = check_value(c, n->index.object);
	const struct type *index = check_value(c, n->index.index);
	int64_t i;

	if (t->kind == TYPE_BAD || index->kind == TYPE_BAD)
		return type_bad;
	if (index->kind != TYPE_INT)
		return check_fail(c, n->index.index->span, DIAG_OPERAND,
			"an index is a number, not %s", check_type_name(c, index));
	if (t->kind == TYPE_STRING)
		return type_int8;
	if (t->kind != TYPE_TUPLE)
		return check_fail(c, n->span, DIAG_OPERAND, "%s has no elements",
			check_type_name(c, t));
	if (!expr_is_const(n->index.index, &i))
		return check_fail(c, n->index.index->span, DIAG_OPERAND,
			"the index of a tuple is a constant");
	return tuple_member(c, n, t, (uint64_t)i);
}

/* ---- literals, tuples ---- */

static unsigned tuple_depth(const struct type *t)
{
	unsigned deepest = 0;

	if (t->kind != TYPE_TUPLE)
		return 0;
	for (unsigned i = 0; i < t->tuple.n; i++) {
		unsigned depth = tuple_depth(t->tuple.members[i]);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

/* Tuples of tuples double with each line of a script: there must be an end. */
const struct type *check_members(struct check *c, struct span at, struct expr *first)
{
	const struct type **members, *t;
	unsigned count = 0;
	uint64_t size = 0;
	bool bad = false, deep = false;

	for (struct expr *m = first; m; m = m->next)
		count++;
	members = arena_new_array(c->arena, const struct type *, count + 1);
	count = 0;
	for (struct expr *m = first; m; m = m->next) {
		t = check_value(c, m);
		bad |= t->kind == TYPE_BAD;
		members[count++] = type_stored(c->arena, t);
		size += t->size;
		deep |= tuple_depth(t) >= TUPLE_DEPTH_MAX;
	}
	if (!bad && size > TUPLE_MAX)
		return check_fail(c, at, DIAG_OPERAND,
			"a tuple has at most %u bytes, not %llu", TUPLE_MAX,
			(unsigned long long)size);
	if (deep)
		return check_fail(c, at, DIAG_NESTING,
			"tuples are nested at most %u deep", TUPLE_DEPTH_MAX);
	return bad ? type_bad : type_tuple(c->arena, members, count);
}

static const struct type *check_string(struct check *c, struct expr *n)
{
	if (n->string.len < TYPE_STRING_MAX)
		return type_string(c->arena, n->string.len + 1);
	return check_fail(c, n->span, DIAG_LITERAL, "a string has at most %u bytes",
		TYPE_STRING_MAX - 1);
}

static const struct type *check_word(struct check *c, struct expr *n)
{
	return check_fail(c, n->span, DIAG_NAME,
		"unknown variable or function: %s", n->word);
}

static const struct type *expr_type(struct check *c, struct expr *n)
{
	switch (n->kind) {
	case EXPR_INT:
		return n->integer.is_unsigned ? type_uint64 : type_int64;
	case EXPR_STRING:
		return check_string(c, n);
	case EXPR_BOOL:
		return type_bool;
	case EXPR_WORD:
		return check_word(c, n);
	case EXPR_VAR:
		return check_var_read(c, n);
	case EXPR_MAP:
		return check_map_read(c, n);
	case EXPR_CALL:
		return check_call(c, n, false);
	case EXPR_FIELD:
		return check_field(c, n);
	case EXPR_INDEX:
		return check_index(c, n);
	case EXPR_UNOP:
		return check_unop(c, n);
	case EXPR_BINOP:
		return check_binop(c, n);
	case EXPR_TERNARY:
		return check_ternary(c, n);
	case EXPR_CAST:
		return check_cast(c, n);
	case EXPR_SIZEOF:
		return check_sizeof(c, n);
	case EXPR_TUPLE:
		return check_members(c, n->span, n->members);
	case EXPR_PARAM: /* resolve put a literal in its place */
		break;
	}
	return type_bad;
}

const struct type *check_expr(struct check *c, struct expr *n)
{
	return n->type = expr_type(c, n);
}

const struct type *check_value(struct check *c, struct expr *n)
{
	const struct type *t = check_expr(c, n);

	if (t->kind == TYPE_NONE)
		return n->type = check_fail(c, n->span, DIAG_NO_VALUE,
			       n->kind == EXPR_CALL ? "%s() gives no value"
						 : "this gives no value",
			       n->kind == EXPR_CALL ? n->call.name : "");
	if (t->kind == TYPE_ARGS) {
		check_fail(c, n->span, DIAG_FIELD,
			"args is not a value: only its fields are");
		check_hint(c, "write args.NAME");
		return n->type = type_bad;
	}
	return t;
}

bool check_truth(struct check *c, struct expr *n)
{
	const struct type *t = check_value(c, n);

	if (t->kind == TYPE_BAD || type_is_number(t))
		return t->kind != TYPE_BAD;
	check_fail(c, n->span, DIAG_OPERAND, "%s is neither true nor false",
		check_type_name(c, t));
	if (t->kind == TYPE_STRING)
		check_hint(c, "compare it: == \"...\"");
	return false;
}
