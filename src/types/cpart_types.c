// SPDX-License-Identifier: Apache-2.0
/* cpart_types.c - converts clang's types to the model's. A struct's members are made at the first use,
 * since a header of the kernel has thousands. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "cpart.h"

enum { DEPTH_MAX = 64 }; /* nesting of pointers and arrays */

static const struct type *make(struct cpart *c, struct cx_type t, unsigned depth);

/* ---- integers ----------------------------------------------------------- */

static bool is_signed_kind(unsigned kind)
{
	return kind >= CX_CHAR_S;
}

static uint32_t size_of(struct cpart *c, struct cx_type t)
{
	long long n = c->clang.Type_getSizeOf(t);

	return n > 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

struct enumerators {
	struct cpart *part;
	VEC(struct enumerator) list;
};

static enum cx_visit add_enumerator(struct cx_cursor cursor, struct cx_cursor parent, void *arg)
{
	struct enumerators *e = arg;

	if (cursor.kind == CX_ENUM_CONSTANT_DECL)
		vec_push(&e->list,
			(struct enumerator){cpart_string(e->part, e->part->clang.getCursorSpelling(cursor)),
				(uint64_t)e->part->clang.getEnumConstantDeclValue(cursor)});
	return CX_VISIT_CONTINUE;
}

static const struct type *make_enum(struct cpart *c, struct decl *d)
{
	struct cx_type of = c->clang.getCanonicalType(c->clang.getEnumDeclIntegerType(d->cursor));
	struct enumeration *names = arena_new_obj(c->arena, struct enumeration);
	struct enumerators e = {.part = c};
	struct enumerator *list;

	c->clang.visitChildren(d->cursor, add_enumerator, &e);
	list = arena_new_array(c->arena, struct enumerator, e.list.len + 1);
	for (size_t i = 0; i < e.list.len; i++)
		list[i] = e.list.data[i];
	names->name = *d->name ? arena_printf(c->arena, "enum %s", d->name) : "enum";
	names->n = (unsigned)e.list.len;
	names->list = list;
	vec_done(&e.list);
	return type_enum(c->arena, of.kind == CX_INVALID || !size_of(c, of) ? 4 : size_of(c, of),
		is_signed_kind(of.kind), names);
}

/* ---- struct and union --------------------------------------------------- */

struct members {
	struct cpart *part;
	uint32_t size; /* size of the struct */
	VEC(struct member) list;
};

/* Bits are counted within the unit of the field's type. A packed field that crosses two units is counted
 * within the smallest integer that contains it and, if possible, lies within the struct. Returns false if
 * the field lies in nine bytes. */
static bool set_bits(struct member *m, uint64_t bits, unsigned width, uint32_t size)
{
	uint32_t unit = m->type->size ? m->type->size : 1;
	uint64_t at = bits / (8 * unit) * unit;

	for (unit = unit > 8 ? 8 : unit; bits - 8 * at + width > 8 * unit; at = bits / 8) {
		if (at == bits / 8 && (unit *= 2) > 8)
			return false;
	}
	if (at + unit > size && size >= unit)
		at = size - unit;
	if (unit != m->type->size)
		m->type = type_int(unit, m->type->is_signed);
	m->offset = (uint32_t)at;
	m->bit_offset = (uint8_t)(bits - 8 * at);
	m->bit_size = (uint8_t)width;
	return true;
}

static int add_member(struct cx_cursor cursor, void *arg)
{
	struct members *s = arg;
	const struct clang *clang = &s->part->clang;
	const char *name = cpart_string(s->part, clang->getCursorSpelling(cursor));
	long long bits = clang->Cursor_getOffsetOfField(cursor);
	int width = clang->getFieldDeclBitWidth(cursor);
	struct member m = {.name = strchr(name, '(') ? "" : name};

	if (bits < 0 || (width >= 0 && !*m.name) || width > 64)
		return CX_FIELD_CONTINUE;
	m.type = cpart_type(s->part, clang->getCursorType(cursor));
	m.offset = (uint32_t)(bits / 8);
	if (width <= 0 || set_bits(&m, (uint64_t)bits, (unsigned)width, s->size))
		vec_push(&s->list, m);
	return CX_FIELD_CONTINUE;
}

static void fill(struct composite *composite)
{
	struct decl *d = composite->source;
	struct cpart *c = d->part;
	struct members s = {.part = c};
	struct cx_type t;
	struct member *list;

	if (!c->unit)
		return;
	t = c->clang.getCursorType(d->cursor);
	s.size = size_of(c, t);
	c->clang.Type_visitFields(t, add_member, &s);
	list = arena_new_array(c->arena, struct member, s.list.len + 1);
	for (size_t i = 0; i < s.list.len; i++)
		list[i] = s.list.data[i];
	composite->members = list;
	composite->n = (unsigned)s.list.len;
	vec_done(&s.list);
}

/* ---- limits of clang's time --------------------------------------------- */

/* clang visits all members of a struct, including those of structs in it, each time it computes a size. */
enum { WEIGHT_MAX = 1 << 20, NESTED_MAX = 200 };

struct weighing {
	struct cpart *part;
	unsigned depth;
	uint32_t sum;
};

static uint32_t weigh(struct cpart *c, struct cx_type t, unsigned depth);

static int weigh_member(struct cx_cursor cursor, void *arg)
{
	struct weighing *w = arg;
	uint32_t more = weigh(w->part, w->part->clang.getCursorType(cursor), w->depth + 1);

	w->sum = w->sum + more < WEIGHT_MAX ? w->sum + more : WEIGHT_MAX;
	return CX_FIELD_CONTINUE;
}

static uint32_t weigh(struct cpart *c, struct cx_type t, unsigned depth)
{
	struct weighing w = {.part = c, .depth = depth, .sum = 1};
	struct cx_cursor cursor;
	struct decl *d;

	for (t = c->clang.getCanonicalType(t); t.kind == CX_CONSTANT_ARRAY || t.kind == CX_INCOMPLETE_ARRAY;)
		t = c->clang.getCanonicalType(c->clang.getArrayElementType(t));
	if (t.kind != CX_RECORD)
		return 1;
	cursor = c->clang.getTypeDeclaration(t);
	d = decl_of(c, cursor, (int)cursor.kind);
	if (!d || depth == NESTED_MAX)
		return WEIGHT_MAX;
	if (!d->weight) {
		c->clang.Type_visitFields(t, weigh_member, &w);
		d->weight = w.sum;
	}
	return d->weight;
}

static bool is_light(struct cpart *c, struct decl *d, const char *name)
{
	if (weigh(c, c->clang.getCursorType(d->cursor), 0) < WEIGHT_MAX)
		return true;
	return diag(c->diags, cpart_first_line(c), DIAG_C, "%s has more than %d members, or structs nested more than "
		"%d levels deep", name, WEIGHT_MAX, NESTED_MAX);
}

static const struct type *make_struct(struct cpart *c, struct decl *d)
{
	struct composite *composite = arena_new_obj(c->arena, struct composite);
	const char *tag = d->kind == CX_UNION_DECL ? "union" : "struct";
	uint32_t size;

	composite->name = *d->name ? arena_printf(c->arena, "%s %s", tag, d->name) : tag;
	composite->is_union = d->kind == CX_UNION_DECL;
	composite->incomplete = !c->clang.isCursorDefinition(d->cursor) || !is_light(c, d, composite->name);
	composite->fill = composite->incomplete ? NULL : fill;
	composite->source = d;
	size = composite->incomplete ? 0 : size_of(c, c->clang.getCursorType(d->cursor));
	return type_struct(c->arena, size, composite);
}

static const struct type *declared(struct decl *d)
{
	if (!d)
		return type_none;
	if (!d->type)
		d->type = d->kind == CX_ENUM_DECL ? make_enum(d->part, d) : make_struct(d->part, d);
	return d->type;
}

static const struct type *make_declared(struct cpart *c, struct cx_type t)
{
	struct cx_cursor cursor = c->clang.getTypeDeclaration(t);

	switch (cursor.kind) {
	case CX_STRUCT_DECL:
	case CX_UNION_DECL:
	case CX_ENUM_DECL:
		return declared(decl_of(c, cursor, (int)cursor.kind));
	default:
		return type_none;
	}
}

/* ---- other types -------------------------------------------------------- */

static bool is_char(unsigned kind)
{
	return kind == CX_CHAR_S || kind == CX_CHAR_U;
}

static const struct type *make_array(struct cpart *c, struct cx_type t, unsigned depth)
{
	struct cx_type of = c->clang.getCanonicalType(c->clang.getArrayElementType(t));
	long long n = t.kind == CX_CONSTANT_ARRAY ? c->clang.getArraySize(t) : 0;
	const struct type *element;

	if (is_char(of.kind) && n > 0 && n <= TYPE_STRING_MAX)
		return type_string(c->arena, (uint32_t)n);
	element = make(c, of, depth + 1);
	if (n < 0 || n * (long long)element->size > INT32_MAX)
		n = 0;
	return type_array(c->arena, element, (uint32_t)n);
}

/* The language has no floating-point numbers, vectors and similar types: bytes keep members at their
 * offsets. */
static const struct type *make_bytes(struct cpart *c, struct cx_type t)
{
	uint32_t size = size_of(c, t);

	return size ? type_array(c->arena, type_uint8, size) : type_none;
}

static const struct type *make(struct cpart *c, struct cx_type t, unsigned depth)
{
	t = c->clang.getCanonicalType(t);
	switch (depth < DEPTH_MAX ? t.kind : CX_INVALID) {
	case CX_INVALID:
	case CX_VOID:
	case CX_FUNCTION_NO_PROTO:
	case CX_FUNCTION_PROTO:
		return type_none;
	case CX_BOOL:
		return type_bool;
	case CX_CHAR_U: case CX_UCHAR: case CX_USHORT: case CX_UINT: case CX_ULONG: case CX_ULONGLONG:
	case CX_CHAR_S: case CX_SCHAR: case CX_WCHAR: case CX_SHORT: case CX_INT: case CX_LONG: case CX_LONGLONG:
		return type_c_int(c->arena, size_of(c, t), is_signed_kind(t.kind),
			cpart_string(c, c->clang.getTypeSpelling(t)));
	case CX_POINTER:
		return type_pointer(c->arena, make(c, c->clang.getPointeeType(t), depth + 1), SPACE_ANY);
	case CX_RECORD:
	case CX_ENUM:
		return make_declared(c, t);
	case CX_CONSTANT_ARRAY:
	case CX_INCOMPLETE_ARRAY:
		return make_array(c, t, depth);
	case CX_ATOMIC:
		return make(c, c->clang.Type_getValueType(t), depth + 1);
	default:
		return make_bytes(c, t);
	}
}

const struct type *cpart_type(struct cpart *c, struct cx_type t)
{
	return make(c, t, 0);
}

/* The script's definition counts. With -v, a message reports another size in the kernel. */
static void compare(struct cpart *c, const struct decl *d, enum type_tag tag)
{
	uint32_t size = d->type->size;
	const struct type *kernel = size && log_level > 0 ? types_find_kernel(c->types, tag, d->name) : NULL;

	if (kernel && kernel->size && kernel->size != size)
		log_info("%s %s has %u bytes in the C part, %u in this kernel's BTF", tag == TAG_UNION ? "union" :
			"struct", d->name, size, kernel->size);
}

const struct type *cpart_find(void *state, enum type_tag tag, const char *name)
{
	struct cpart *c = state;
	struct decl *d = NULL;

	switch (tag) {
	case TAG_NAME:
		d = decl_find(c, CX_TYPEDEF_DECL, name);
		return d ? cpart_type(c, c->clang.getTypedefDeclUnderlyingType(d->cursor)) : NULL;
	case TAG_STRUCT:
		d = decl_find(c, CX_STRUCT_DECL, name);
		break;
	case TAG_UNION:
		d = decl_find(c, CX_UNION_DECL, name);
		break;
	case TAG_ENUM:
		d = decl_find(c, CX_ENUM_DECL, name);
		break;
	}
	if (d && !d->type && tag != TAG_ENUM) {
		declared(d);
		compare(c, d, tag);
	}
	return d ? declared(d) : NULL;
}
