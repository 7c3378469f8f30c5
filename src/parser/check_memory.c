// SPDX-License-Identifier: Apache-2.0
/* check_memory.c - the types of values in memory: arguments, members, elements, and the targets of
 * pointers. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "checker.h"
#include "model/attach_point.h"
#include "model/facts.h"

/* Returns the type of a value that is read from memory: an array of char may lack a NUL, the value does
 * not. */
static const struct type *value_of(struct check *c, const struct type *t)
{
	return t->kind == TYPE_STRING && !t->string.bytes ? type_chars(c->arena, t->size) : t;
}

/* Returns the type that such a value has in memory. */
static const struct type *memory_of(struct check *c, const struct type *t)
{
	return t->kind == TYPE_STRING && t->string.bytes ? type_string(c->arena, t->string.bytes) : t;
}

/* ---- args.x ---- */

static const struct type *disagree(struct check *c, struct expr *n, const struct field *f,
	const struct type *t, const struct field *other, const struct place *p)
{
	check_fail(c, n->span, DIAG_FIELD, "args.%s is %s in one of the places, %s in another",
		f->name, check_type_name(c, t), check_type_name(c, other->type));
	check_hint(c, "give %s a probe of its own", p->name);
	return type_bad;
}

/* The places of one probe may have the field with different types. Returns a type that holds all of them. */
static const struct type *field_type(
	struct check *c, struct expr *n, const struct field *f)
{
	const struct type *t = f->type;

	for (struct attach_point *ap = c->probe->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next)
			for (const struct field *other = p->fields; other; other = other->next) {
				const struct type *both;

				if (strcmp(other->name, f->name) != 0)
					continue;
				both = type_join(c->arena, t, other->type);
				if (!both)
					return disagree(c, n, f, t, other, p);
				t = both;
			}
	return f->where == FIELD_DATA_LOC || f->where == FIELD_REL_LOC ? t : value_of(c, t);
}

static void hint_argument(struct check *c, const char *written)
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
	else if (n)
		check_hint(c, "strata -lv '%s' lists its fields", c->probe->points->text);
}

static bool places_are_known(const struct check *c)
{
	for (struct attach_point *ap = c->probe->points; ap; ap = ap->next)
		if (!ap->places) /* resolve has reported the reason */
			return false;
	return true;
}

static const struct type *check_args_field(struct check *c, struct expr *n)
{
	const struct field *f = c->probe->fields;

	while (f && strcmp(f->name, n->field.name) != 0)
		f = f->next;
	n->field.field = f;
	if (f && f->where == FIELD_NOWHERE)
		return check_fail(c, n->span, DIAG_FIELD, "args.%s is not there: %s", f->name, f->why);
	if (f)
		return field_type(c, n, f);
	if (!places_are_known(c))
		return type_bad;
	check_fail(c, n->span, DIAG_FIELD, "args has no field %s", n->field.name);
	hint_argument(c, n->field.name);
	return type_bad;
}

/* probe->fields is in reverse order. */
const struct type *check_args_value(struct check *c, struct expr *n)
{
	const struct type **members;
	const char **names;
	unsigned count = 0, at;

	if (!places_are_known(c))
		return type_bad;
	for (const struct field *f = c->probe->fields; f; f = f->next)
		count += f->where != FIELD_NOWHERE;
	members = arena_new_array(c->arena, const struct type *, count + 1);
	names = arena_new_array(c->arena, const char *, count + 1);
	at = count;
	for (const struct field *f = c->probe->fields; f; f = f->next) {
		if (f->where == FIELD_NOWHERE)
			continue;
		members[--at] = field_type(c, n, f);
		names[at] = f->name;
		if (members[at]->kind == TYPE_BAD)
			return type_bad;
	}
	if (!count)
		return check_fail(c, n->span, DIAG_FIELD, "nothing is known of this probe's arguments");
	return type_record(c->arena, members, names, count);
}

/* ---- tuples and records ---- */

static const struct type *tuple_member(
	struct check *c, struct expr *n, const struct type *t, uint64_t i)
{
	if (i < t->tuple.n)
		return t->tuple.members[i];
	if (!t->tuple.n)
		return check_fail(c, n->span, DIAG_FIELD, "an empty tuple has no members");
	return check_fail(c, n->span, DIAG_FIELD, "a tuple of %u has members .0 to .%u",
		t->tuple.n, t->tuple.n - 1);
}

static const struct type *record_member(
	struct check *c, struct expr *n, const struct type *t, const char *name)
{
	const char *near;

	for (unsigned i = 0; i < t->tuple.n; i++)
		if (!strcmp(t->tuple.names[i], name)) {
			n->field.index = i;
			return t->tuple.members[i];
		}
	check_fail(c, n->span, DIAG_FIELD, "this record has no member %s", name);
	near = nearest(name, t->tuple.names, t->tuple.n);
	if (near)
		check_hint(c, "did you mean .%s?", near);
	return type_bad;
}

static const struct type *tuple_field(struct check *c, struct expr *n, const struct type *t)
{
	const char *name = n->field.name;

	if (t->tuple.names)
		return record_member(c, n, t, name);
	if (strspn(name, "0123456789") != strlen(name) || strlen(name) > 6)
		return check_fail(c, n->span, DIAG_FIELD,
			"the members of a tuple are numbered: .0, not .%s", name);
	n->field.index = (unsigned)strtoul(name, NULL, 10);
	return tuple_member(c, n, t, n->field.index);
}

/* ---- struct and union ---- */

static bool is_flexible(const struct expr *n)
{
	return n->kind == EXPR_FIELD && n->field.member && n->field.member->type->kind == TYPE_ARRAY &&
	       n->type->kind == TYPE_POINTER;
}

/* Targets of pointers have an address, and so have variables and maps. */
static bool is_pointed_to(const struct expr *n)
{
	if (n->kind == EXPR_UNOP)
		return n->op.op == OP_DEREF;
	if (n->kind == EXPR_FIELD && n->field.member && !n->field.member->bit_size)
		return n->field.object->type->kind == TYPE_POINTER || is_pointed_to(n->field.object);
	if (n->kind == EXPR_INDEX)
		return n->index.object->type->kind == TYPE_POINTER || is_pointed_to(n->index.object);
	return false;
}

/* Returns the address space of the innermost pointer on the way to the value. */
static enum space space_of(const struct expr *n)
{
	const struct expr *object = n->kind == EXPR_FIELD ? n->field.object :
		n->kind == EXPR_INDEX ? n->index.object : n->op.left;

	return object->type->kind == TYPE_POINTER ? object->type->pointer.space : space_of(object);
}

/* A pointer that is read from memory of the kernel or of a process points to the same memory, unless its
 * type says otherwise. */
static const struct type *in_space(struct check *c, const struct type *t, enum space space)
{
	if (t->kind != TYPE_POINTER || t->pointer.space != SPACE_ANY || space == SPACE_ANY)
		return value_of(c, t);
	return type_pointer(c->arena, t->pointer.to, space);
}

enum { NAMES_MAX = 4096 };

struct name_list {
	const char **data;
	size_t len, cap;
};

/* Adds the names of members; those of unnamed structs are the type's own members, too. */
static void add_names(const struct type *t, struct name_list *names, unsigned depth)
{
	const struct composite *s = composite_of(t);

	for (unsigned i = 0; i < s->n && names->len < NAMES_MAX; i++) {
		if (*s->members[i].name)
			vec_push(names, s->members[i].name);
		else if (s->members[i].type->kind == TYPE_STRUCT && depth < 16)
			add_names(s->members[i].type, names, depth + 1);
	}
}

static void hint_member(struct check *c, const struct type *t, const char *written)
{
	struct name_list names = {};
	const char *near;

	add_names(t, &names, 0);
	near = nearest(written, names.data, names.len);
	vec_done(&names);
	if (near)
		check_hint(c, "did you mean %s?", near);
	else if (strchr(composite_of(t)->name, ' '))
		check_hint(c, "strata -lv '%s' lists its members", composite_of(t)->name);
}

/* Handles int d[]: the value is the address of the elements, as in C. */
static const struct type *flexible(struct check *c, struct expr *n, const struct member *m, enum space space)
{
	if (n->field.object->type->kind != TYPE_POINTER && !is_pointed_to(n->field.object))
		return check_fail(c, n->span, DIAG_FIELD, "the elements of %s were not copied with the struct",
			n->field.name);
	return in_space(c, type_pointer(c->arena, m->type->array.of, SPACE_ANY), space);
}

static const struct type *struct_field(
	struct check *c, struct expr *n, const struct type *t, enum space space)
{
	struct member *m = arena_new_obj(c->arena, struct member);

	t = types_complete(c->req->types, t);
	if (type_member(t, n->field.name, m)) {
		n->field.member = m;
		n->field.of = t;
		if (m->type->kind == TYPE_ARRAY && !m->type->array.n)
			return flexible(c, n, m, space);
		return in_space(c, m->type, space);
	}
	if (composite_of(t)->incomplete)
		return check_fail(c, n->span, DIAG_FIELD, "%s is declared, but nothing says what is in it",
			check_type_name(c, t));
	check_fail(c, n->span, DIAG_FIELD, "%s has no member %s", check_type_name(c, t),
		n->field.name);
	if (c->final)
		hint_member(c, t, n->field.name);
	return type_bad;
}

/* ---- frames of a stack ---- */

/* The kernel walks only as far as the frame. A stack may have frames that are not shown: wrappers that a compiler
 * made. */
enum { HIDDEN_FRAMES = 7 };

static const struct type *stack_frame(struct check *c, struct expr *n, const struct type *t)
{
	struct expr *stack = n->index.object;
	int64_t i = 0;

	if (!expr_is_const(n->index.index, &i))
		return check_fail(c, n->index.index->span, DIAG_OPERAND, "the index of a stack is a constant");
	if (i < -UNWIND_LIMIT_MAX || i >= UNWIND_LIMIT_MAX)
		return check_fail(c, n->index.index->span, DIAG_RANGE, "the index of a stack is %d to %d, not %lld",
			-UNWIND_LIMIT_MAX, UNWIND_LIMIT_MAX - 1, (long long)i);
	if (stack->kind == EXPR_CALL && !t->stack.limited && !t->stack.last && !t->stack.from && !t->stack.to &&
		i >= 0 && i + HIDDEN_FRAMES < t->stack.limit)
		stack->type = t = type_stack(c->arena, t->stack.lang, t->stack.mode,
			i ? (uint32_t)i + 1 + HIDDEN_FRAMES : 1, true);
	return type_frame(c->arena, t, (int32_t)i, FRAME_PART_ALL);
}

static const char *const part_names[FRAME_PART_MAX] = {
#define P(id, name) [FRAME_PART_##id] = name,
	FRAME_PARTS(P)
#undef P
};

static const struct type *frame_field(struct check *c, struct expr *n, const struct type *t)
{
	const char *near;

	if (type_is_has_frame(t))
		return check_fail(c, n->span, DIAG_FIELD, "has_frame() is true or false: it has no fields");
	if (t->frame.part)
		return check_fail(c, n->span, DIAG_FIELD, ".%s of a frame has no fields", part_names[t->frame.part]);
	for (int part = FRAME_PART_ALL + 1; part < FRAME_PART_MAX; part++)
		if (!strcmp(n->field.name, part_names[part]))
			return type_frame(c->arena, t->frame.stack, t->frame.index, (enum frame_part)part);
	check_fail(c, n->span, DIAG_FIELD, "a frame has no part %s", n->field.name);
	near = nearest(n->field.name, part_names + 1, FRAME_PART_MAX - 1);
	if (near)
		check_hint(c, "did you mean .%s?", near);
	else
		check_hint(c, "a frame has .func, .file, .line, .module and .lang");
	return type_bad;
}

/* ---- fields ---- */

const struct type *check_field(struct check *c, struct expr *n)
{
	const struct type *t = check_expr(c, n->field.object);

	switch ((int)t->kind) {
	case TYPE_BAD:
		return t;
	case TYPE_ARGS:
		return check_args_field(c, n);
	case TYPE_TUPLE:
		return tuple_field(c, n, t);
	case TYPE_FRAME:
		return frame_field(c, n, t);
	case TYPE_STRUCT:
		return struct_field(c, n, t, is_pointed_to(n->field.object) ? space_of(n->field.object) : SPACE_ANY);
	case TYPE_POINTER:
		if (t->pointer.to->kind == TYPE_STRUCT)
			return struct_field(c, n, t->pointer.to, t->pointer.space);
		break;
	default:
		break;
	}
	check_fail(c, n->span, DIAG_FIELD, "%s has no fields", check_type_name(c, t));
	if (type_is_number(t))
		check_hint(c, "a cast says what is there: ((struct NAME *)%s)->%s",
			n->field.object->kind == EXPR_CALL ? n->field.object->call.name : "..",
			n->field.name);
	return type_bad;
}

/* ---- elements ---- */

/* count is 0 if it is not known. */
static const struct type *element(struct check *c, struct expr *n, const struct type *of, uint64_t count)
{
	const struct expr *index = n->index.index;
	int64_t i;

	if (!types_complete(c->req->types, of)->size)
		return check_fail(c, n->span, DIAG_OPERAND, "an element of %s has no bytes",
			check_type_name(c, n->index.object->type));
	if (!expr_is_const(index, &i))
		return value_of(c, of);
	if (i < 0)
		return check_fail(c, index->span, DIAG_RANGE, "an index is not negative: %lld", (long long)i);
	if (count && (uint64_t)i >= count)
		return check_fail(c, index->span, DIAG_RANGE, "the index %lld is out of bounds: there are "
			"%llu elements", (long long)i, (unsigned long long)count);
	return value_of(c, of);
}

/* Treats the target of a pointer as an element of an array. */
static const struct type *pointed_element(struct check *c, struct expr *n, const struct type *t)
{
	const struct type *to = types_complete(c->req->types, t->pointer.to);

	if (to->kind == TYPE_NONE || !to->size)
		return check_fail(c, n->span, DIAG_OPERAND, "how large an element of %s is, is not known",
			check_type_name(c, t));
	return in_space(c, to, t->pointer.space);
}

const struct type *check_index(struct check *c, struct expr *n)
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
		return element(c, n, type_int8, type_text_bytes(t));
	if (t->kind == TYPE_BUFFER)
		return element(c, n, type_uint8, t->size - 4);
	if (t->kind == TYPE_ARRAY)
		return element(c, n, t->array.of, t->array.n);
	if (t->kind == TYPE_POINTER)
		return pointed_element(c, n, t);
	if (t->kind == TYPE_STACK)
		return stack_frame(c, n, t);
	if (t->kind != TYPE_TUPLE)
		return check_fail(c, n->span, DIAG_OPERAND, "%s has no elements",
			check_type_name(c, t));
	if (!expr_is_const(n->index.index, &i))
		return check_fail(c, n->index.index->span, DIAG_OPERAND,
			"the index of a tuple is a constant");
	return tuple_member(c, n, t, (uint64_t)i);
}

/* ---- * and & ---- */

/* `*arg0`: an integer is the address of 8 bytes. */
static const struct type *as_address(struct check *c, struct expr *n)
{
	struct expr *value = n->op.left, *cast = arena_new_obj(c->arena, struct expr);
	struct type_name *to = arena_new_obj(c->arena, struct type_name);

	to->form = TYPE_FORM_KNOWN;
	to->span = value->span;
	to->text = "uint64 *";
	to->type = type_pointer(c->arena, type_uint64, SPACE_ANY);
	cast->kind = EXPR_CAST;
	cast->span = value->span;
	cast->depth = value->depth;
	cast->cast.to = to;
	cast->cast.value = value;
	n->op.left = cast;
	return check_value(c, cast);
}

const struct type *check_deref(struct check *c, struct expr *n)
{
	const struct type *t = check_value(c, n->op.left), *to;

	if (t->kind == TYPE_INT)
		t = as_address(c, n);

	if (t->kind == TYPE_BAD)
		return t;
	if (t->kind != TYPE_POINTER)
		return check_fail(c, n->span, DIAG_OPERAND, "* reads what a pointer points to, not %s",
			check_type_name(c, t));
	to = types_complete(c->req->types, t->pointer.to);
	if (to->kind == TYPE_NONE)
		return check_fail(c, n->span, DIAG_OPERAND, "%s says nothing of what is there",
			check_type_name(c, t));
	if (!to->size && to->kind == TYPE_STRUCT)
		return check_fail(c, n->span, DIAG_OPERAND, "%s is declared, but nothing says what is in it",
			check_type_name(c, to));
	return in_space(c, to, t->pointer.space);
}

const struct type *check_address(struct check *c, struct expr *n)
{
	struct expr *of = n->op.left;
	const struct type *t;

	if (of->kind == EXPR_MAP && !of->map.keys) {
		check_whole_map(c, of);
		return type_pointer(c->arena, type_none, SPACE_KERNEL);
	}
	t = check_value(c, of);
	if (t->kind == TYPE_BAD)
		return t;
	if (of->kind == EXPR_VAR) {
		of->var.var->addressed = true;
		return type_pointer(c->arena, t, SPACE_KERNEL);
	}
	if (is_flexible(of))
		return t;
	if (is_pointed_to(of))
		return type_pointer(c->arena, memory_of(c, t), space_of(of));
	check_fail(c, n->span, DIAG_OPERAND, "this has no address");
	check_hint(c, "& takes the address of a $variable, a @map, or what a pointer leads to");
	return type_bad;
}

/* ---- typeinfo ---- */

static const char *base_name(const struct type *t)
{
	switch ((int)t->kind) {
	case TYPE_INT:
	case TYPE_BOOL:
		return "int";
	case TYPE_POINTER:
		return "pointer";
	case TYPE_STRING:
		return "string";
	case TYPE_BUFFER:
		return "buffer";
	case TYPE_ARRAY:
		return "array";
	case TYPE_STRUCT:
		return "c_type";
	case TYPE_TUPLE:
		return t->tuple.names ? "record" : "tuple";
	default:
		return NULL;
	}
}

static struct expr *literal(struct check *c, const struct expr *like, const char *text)
{
	struct expr *n = arena_new_obj(c->arena, struct expr);

	n->kind = text ? EXPR_STRING : EXPR_INT;
	n->span = like->span;
	n->depth = 1;
	n->string.text = text;
	n->string.len = text ? (uint32_t)strlen(text) : 0;
	check_expr(c, n);
	return n;
}

/* Makes a record of literals. The number of the type in BTF is 0, since several BTFs may have the type. */
const struct type *check_typeinfo(struct check *c, struct expr *n)
{
	static const char *names[] = {"btf_id", "base_type", "full_type"};
	const struct type *t = n->size.type ? check_value_type(c, n->size.type) :
					      check_value(c, n->size.value);
	const char *full = check_type_name(c, t), *base = base_name(t);
	struct expr *first;

	if (t->kind == TYPE_BAD || !check_unstable(c, n->span, "typeinfo", c->req->settings.unstable_typeinfo))
		return type_bad;
	first = literal(c, n, NULL);
	first->next = literal(c, n, base ? base : full);
	first->next->next = literal(c, n, full);
	t = type_record(c->arena, (const struct type *[]){type_stored(c->arena, first->type),
		first->next->type, first->next->next->type}, names, 3);
	if (c->final) {
		n->kind = EXPR_TUPLE;
		n->tuple.first = first;
		n->tuple.names = names;
	}
	return t;
}

/* ---- offsetof ---- */

const struct type *check_offsetof(struct check *c, struct expr *n)
{
	const struct type *t = n->offset.type ? check_type(c, n->offset.type) :
						check_value(c, n->offset.value);
	uint32_t at = 0;

	for (struct expr_path *p = n->offset.path; p && t->kind != TYPE_BAD; p = p->next) {
		struct member m = {};

		if (t->kind == TYPE_STRUCT)
			t = types_complete(c->req->types, t);
		if (t->kind != TYPE_STRUCT)
			return check_fail(c, p->span, DIAG_FIELD, "%s has no members", check_type_name(c, t));
		facts_layout(c->req->facts, t);
		if (!type_member(t, p->name, &m)) {
			check_fail(c, p->span, DIAG_FIELD, "%s has no member %s", check_type_name(c, t),
				p->name);
			if (c->final)
				hint_member(c, t, p->name);
			return type_bad;
		}
		if (m.bit_size)
			return check_fail(c, p->span, DIAG_FIELD, "%s is a bit-field, which has no offset in "
				"bytes", p->name);
		at += m.offset;
		t = m.type;
	}
	if (t->kind == TYPE_BAD)
		return t;
	n->offset.bytes = at;
	if (c->final || (c->comptime && n->offset.type && !type_name_expr(n->offset.type)))
		fold_to_int(n, at);
	return type_uint64;
}
