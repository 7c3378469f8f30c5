// SPDX-License-Identifier: Apache-2.0
/* tracepoint_fields.c - the fields of a tracepoint's record, with the C types of its format file. Types that
 * need BTF are looked up when the script uses them: most scripts need none. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "model/type.h"
#include "probes.h"
#include "target/target.h"
#include "types/c_int.h"
#include "types/types.h"

enum { DATA_LOC_STRING = 256 }; /* bytes of a string of unknown length */

/* A field's type by its text: "const char *const *", "__data_loc u64[]". */
struct c_type {
	const char *base; /* "char", "struct file", "pid_t" */
	unsigned stars;
	bool array;
	enum field_where where;
};

/* ---- the text ----------------------------------------------------------- */

static bool skip(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0 || ((*p)[n] != ' ' && (*p)[n] != '*' && (*p)[n]))
		return false;
	*p += n;
	*p += strspn(*p, " ");
	return true;
}

static void skip_qualifiers(const char **p)
{
	while (skip(p, "const") || skip(p, "volatile") || skip(p, "__user"))
		;
}

static struct c_type read_type(struct arena *a, const char *p)
{
	struct c_type t = {.where = FIELD_CONTEXT};
	size_t n;

	if (skip(&p, "__data_loc"))
		t.where = FIELD_DATA_LOC;
	else if (skip(&p, "__rel_loc"))
		t.where = FIELD_REL_LOC;
	skip_qualifiers(&p);
	n = strcspn(p, "*[");
	t.array = strchr(p, '[');
	for (const char *star = p + n; *star; star++)
		t.stars += *star == '*';
	while (n && p[n - 1] == ' ')
		n--;
	t.base = arena_strndup(a, p, n);
	n = strlen(t.base);
	if (n > 6 && !strcmp(t.base + n - 6, " const"))
		t.base = arena_strndup(a, t.base, n - 6);
	return t;
}

/* ---- the type ----------------------------------------------------------- */

/* The kernel's own names for integers, which need no BTF. */
static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} sized[] = {
	{"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
	{"s8", 1, true}, {"s16", 2, true}, {"s32", 4, true}, {"s64", 8, true},
	{"uint8_t", 1, false}, {"uint16_t", 2, false}, {"uint32_t", 4, false}, {"uint64_t", 8, false},
	{"int8_t", 1, true}, {"int16_t", 2, true}, {"int32_t", 4, true}, {"int64_t", 8, true},
	{"size_t", 8, false}, {"loff_t", 8, true}, {"gid_t", 4, false}, {"uid_t", 4, false},
	{"aio_context_t", 8, false}, {"timer_t", 4, true},
};

static const struct type *known_type(struct arena *a, const char *name)
{
	const char *plain = !strncmp(name, "__", 2) ? name + 2 : name;

	if (!strcmp(name, "void"))
		return type_none;
	if (!strcmp(name, "bool"))
		return type_bool;
	for (size_t i = 0; i < ARRAY_SIZE(sized); i++)
		if (!strcmp(sized[i].name, plain))
			return type_c_int(a, sized[i].size, sized[i].is_signed, name);
	return c_int(a, name);
}

static bool is_tagged(const char *name)
{
	return !strncmp(name, "struct ", 7) || !strncmp(name, "union ", 6);
}

/* The target of a pointer. Without BTF it may be unknown: types_complete() finds it. */
static const struct type *pointee(const struct request *req, const char *name)
{
	const struct type *t = known_type(req->arena, name);

	return t ? t : types_later(req->arena, name);
}

static const struct type *int_of(const struct trace_field *f, uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8 ? type_int(size, f->is_signed) : NULL;
}

/* Returns a type of size bytes (0: unknown size), or NULL if the type is unknown. */
static const struct type *value_type(const struct request *req, const char *name,
	const struct trace_field *f, uint32_t size)
{
	const struct type *t = known_type(req->arena, name);

	if (t && t->kind != TYPE_NONE && (!size || t->size == size))
		return t->kind == TYPE_INT && t->is_signed != f->is_signed ? type_int(t->size, f->is_signed) : t;
	if (is_tagged(name))
		return size ? types_sized(req->types, name, size) : NULL;
	if (!strncmp(name, "enum ", 5) && int_of(f, size))
		return types_enum(req->types, name, size, f->is_signed);
	if (!int_of(f, size))
		t = types_find(req->types, TAG_NAME, name);
	return t && t->size && (!size || t->size == size) ? t : int_of(f, size);
}

static const struct type *array_type(const struct request *req, const struct c_type *c,
	const struct trace_field *f)
{
	const struct type *of = value_type(req, c->base, f, f->elements ? f->size / f->elements : 0);

	if (!of || !of->size)
		return NULL;
	if (!strcmp(c->base, "char") && f->size)
		return type_string(req->arena, f->size);
	return type_array(req->arena, of, f->size / of->size);
}

static const struct type *pointer_type(const struct request *req, const struct c_type *c, enum space space)
{
	const struct type *t = pointee(req, c->base);

	for (unsigned i = 0; i < c->stars; i++)
		t = type_pointer(req->arena, t, space);
	return t;
}

/* Returns the type of a field without a fixed place: text, or an address. */
static const struct type *located_type(const struct request *req, const struct c_type *c)
{
	if (c->array && !strcmp(c->base, "char"))
		return type_string(req->arena, DATA_LOC_STRING);
	return type_pointer(req->arena, pointee(req, c->base), SPACE_KERNEL);
}

static const struct type *field_type(const struct request *req, const struct c_type *c, enum space space,
	const struct trace_field *f)
{
	if (c->where != FIELD_CONTEXT)
		return located_type(req, c);
	if (c->stars && !c->array)
		return pointer_type(req, c, space);
	if (c->array && !c->stars)
		return array_type(req, c, f);
	return c->stars ? NULL : value_type(req, c->base, f, f->size);
}

/* ---- all fields --------------------------------------------------------- */

/* Returns the declaration in C's form; for data elsewhere in the record it has the format file's form. */
static const char *declaration(struct arena *a, const struct c_type *c, const struct trace_field *f)
{
	size_t len = strlen(f->type);

	if (!c->array || c->where != FIELD_CONTEXT || len < 2)
		return arena_printf(a, "%s %s", f->type, f->name);
	return arena_printf(a, f->elements ? "%.*s %s[%u]" : "%.*s %s[]", (int)len - 2, f->type, f->name, f->elements);
}

const struct field *tracepoint_fields(const struct request *req, const struct trace_event *e)
{
	enum space space = strcmp(e->category, "syscalls") ? SPACE_KERNEL : SPACE_USER;
	const struct field *list = NULL, **last = &list;

	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *from = &e->fields[i];
		struct c_type c = read_type(req->arena, from->type);
		const struct type *type = field_type(req, &c, space, from);
		struct field *f = arena_new_obj(req->arena, struct field);

		*f = (struct field){
			.name = arena_strdup(req->arena, from->name),
			.type = type ? type : type_none,
			.offset = from->offset,
			.size = from->size,
			.where = type ? c.where : FIELD_NOWHERE,
			.why = type ? NULL : arena_printf(req->arena, "the type %s is not known", from->type),
			.decl = req->listing || req->lists_args ? declaration(req->arena, &c, from) : NULL,
		};
		*last = f;
		last = &f->next;
	}
	return list;
}
