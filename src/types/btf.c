// SPDX-License-Identifier: Apache-2.0
/* btf.c - types of the kernel and its modules, from BTF.
 *
 * Each BTF type is converted to the model's type once, so that a struct has one composite. Members are made at
 * the first use. Once they are made, it is certain that they lie within the struct and that their nesting ends:
 * the structs in it are made together with it; a struct that contains itself is left out, and so are members
 * beyond DEPTH_MAX or LEAVES_MAX.
 *
 * The model has no floats: they are arrays of bytes. */
#include "btf.h"

#include <bpf/btf.h>
#include <string.h>

#include "base/arena.h"
#include "target/target.h"

enum {
	DEPTH_MAX = 32,        /* nesting of pointers, structs in structs.. */
	LEAVES_MAX = 1 << 16,  /* members of a struct, including those of structs in it */
	ARRAY_MAX = 1 << 28,   /* bytes */
	NOTHING = 1 << 16,     /* weight of an element without bytes */
};

struct btf_struct {
	struct composite c;
	struct btf_file *file;
	uint32_t id;
	uint32_t leaves; /* number of members, including those of structs in it; an array's element counts once */
	bool busy;       /* its members are being made */
};

static const struct type *make(struct btf_file *f, uint32_t id, unsigned depth);

static const char *name_of(const struct btf_file *f, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(f->btf, t->name_off);

	return name ? name : "";
}

static const struct type *bytes(struct btf_file *f, uint32_t n)
{
	return type_array(f->all->arena, type_uint8, n);
}

/* ---- numbers ------------------------------------------------------------ */

static bool is_size(uint32_t size)
{
	return size && size <= 8 && !(size & (size - 1));
}

static const struct type *make_int(struct btf_file *f, const struct btf_type *t)
{
	if (t->size == 16)
		return type_array(f->all->arena, type_uint64, 2);
	if (!is_size(t->size))
		return type_none;
	if (btf_int_encoding(t) & BTF_INT_BOOL && t->size == 1)
		return type_bool;
	return type_c_int(f->all->arena, t->size, btf_int_encoding(t) & BTF_INT_SIGNED, name_of(f, t));
}

static struct enumerator enumerator_of(const struct btf_file *f, const struct btf_type *t, uint32_t i)
{
	struct enumerator e = {};
	uint32_t name;

	if (btf_is_enum64(t)) {
		name = btf_enum64(t)[i].name_off;
		e.value = btf_enum64_value(&btf_enum64(t)[i]);
	} else {
		int32_t v = btf_enum(t)[i].val;

		name = btf_enum(t)[i].name_off;
		e.value = btf_kflag(t) ? (uint64_t)(int64_t)v : (uint32_t)v;
	}
	e.name = btf__name_by_offset(f->btf, name);
	e.name = e.name ? e.name : "";
	return e;
}

static const struct type *make_enum(struct btf_file *f, const struct btf_type *t)
{
	struct arena *a = f->all->arena;
	struct enumeration *names = arena_new_obj(a, struct enumeration);
	struct enumerator *list = arena_new_array(a, struct enumerator, btf_vlen(t) + 1);
	const char *name = name_of(f, t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		list[i] = enumerator_of(f, t, i);
	*names = (struct enumeration){.n = btf_vlen(t), .list = list,
		.name = *name ? arena_printf(a, "enum %s", name) : "enum"};
	return is_size(t->size) ? type_enum(a, t->size, btf_kflag(t), names) : type_none;
}

/* ---- pointers, arrays --------------------------------------------------- */

/* clang writes the kernel's __user as a tag. Without tags, the address space of a pointer is not known. */
static bool has_tags(struct btf_file *f)
{
	struct btf_types *all = f->all;

	for (uint32_t id = 1; !all->has_tags && id < all->files->end; id++)
		if (btf_is_type_tag(btf__type_by_id(all->files->btf, id)))
			all->has_tags = 1;
	all->has_tags = all->has_tags ? all->has_tags : -1;
	return all->has_tags > 0;
}

/* Tags are between a pointer and its target. */
static enum space space_of(struct btf_file *f, uint32_t id, const struct type *to)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		const struct btf_type *t = btf__type_by_id(f->btf, id);

		if (t && btf_is_type_tag(t) && !strcmp(name_of(f, t), "user"))
			return SPACE_USER;
		if (!t || !(btf_is_type_tag(t) || btf_is_mod(t)))
			break;
		id = t->type;
	}
	return (to->kind == TYPE_INT || to->kind == TYPE_NONE) && !has_tags(f) ? SPACE_ANY : SPACE_KERNEL;
}

static const struct type *make_pointer(struct btf_file *f, const struct btf_type *t, unsigned depth)
{
	const struct type *to = make(f, t->type, depth + 1);

	return type_pointer(f->all->arena, to, space_of(f, t->type, to));
}

static bool is_char(const struct type *t)
{
	return t->kind == TYPE_INT && t->size == 1 && t->integer.c_name && !strcmp(t->integer.c_name, "char");
}

static const struct type *make_array(struct btf_file *f, const struct btf_type *t, unsigned depth)
{
	const struct btf_array *a = btf_array(t);
	const struct type *of = make(f, a->type, depth + 1);

	if (of->kind == TYPE_NONE || (uint64_t)(of->size ? of->size : NOTHING) * a->nelems > ARRAY_MAX)
		return type_none;
	if (is_char(of) && a->nelems)
		return type_string(f->all->arena, a->nelems);
	return type_array(f->all->arena, of, a->nelems);
}

/* ---- structs ------------------------------------------------------------ */

/* Returns the struct in a member, which may be the element of an array, or NULL if there is none. */
static struct btf_struct *struct_in(const struct type *t)
{
	while (t->kind == TYPE_ARRAY)
		t = t->array.of;
	return t->kind == TYPE_STRUCT ? (struct btf_struct *)t->strct.composite : NULL;
}

/* Returns false if the member would make the struct's nesting endless or too large. */
static bool make_within(struct btf_struct *s, const struct type *t)
{
	struct btf_struct *in = struct_in(t);
	uint32_t leaves = 1;

	if (in) {
		if (in->busy || s->file->all->depth >= DEPTH_MAX)
			return false;
		for (; t->kind == TYPE_ARRAY; t = t->array.of)
			;
		composite_of(t);
		leaves += in->leaves;
	}
	if (s->leaves + leaves > LEAVES_MAX)
		return false;
	s->leaves += leaves;
	return true;
}

/* Finds the unit of a bit-field: size bytes at an offset, which m gets. The unit's offset is a multiple of
 * the size if the compiler uses such units; in packed structs it may not be. */
static bool in_unit(struct member *m, uint32_t bit, uint32_t bits, uint32_t size, uint32_t whole)
{
	uint32_t first = bit / 8, offsets[] = {first / size * size, first, whole - size};

	for (int i = 0; i < 3 && whole >= size; i++) {
		uint64_t from = (uint64_t)offsets[i] * 8, to = from + (uint64_t)size * 8;

		if (bit < from || (uint64_t)bit + bits > to || offsets[i] + size > whole)
			continue;
		m->offset = offsets[i];
		m->bit_offset = (uint8_t)(bit - from);
		m->bit_size = (uint8_t)bits;
		return true;
	}
	return false;
}

static const struct type *resized(struct arena *a, const struct type *t, uint32_t size)
{
	if (t->kind == TYPE_INT && t->integer.names)
		return type_enum(a, size, t->is_signed, t->integer.names);
	return type_int(size, t->is_signed);
}

static bool set_bits(struct btf_file *f, struct member *m, uint32_t bit, uint32_t bits, uint32_t whole)
{
	const struct type *t = m->type;

	if ((t->kind != TYPE_INT && t->kind != TYPE_BOOL) || bits > 64)
		return false;
	if (in_unit(m, bit, bits, t->size, whole))
		return true;
	for (uint32_t size = 1; size <= 8; size *= 2)
		if (in_unit(m, bit, bits, size, whole)) {
			m->type = resized(f->all->arena, t, size);
			return true;
		}
	return false;
}

/* Returns the bits of a member from its integer type, if its struct does not have them. */
static uint32_t int_bits(const struct btf_file *f, uint32_t id, uint32_t *offset)
{
	int at = btf__resolve_type(f->btf, id);
	const struct btf_type *t = at > 0 ? btf__type_by_id(f->btf, (uint32_t)at) : NULL;

	if (!t || !btf_is_int(t) || btf_int_bits(t) == 8 * t->size)
		return 0;
	*offset += btf_int_offset(t);
	return btf_int_bits(t);
}

/* Returns false for padding, and for members that are impossible. */
static bool make_member(struct btf_struct *s, const struct btf_type *t, uint32_t i, struct member *ret)
{
	const struct btf_member *from = &btf_members(t)[i];
	uint32_t bit = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
	const char *name = btf__name_by_offset(s->file->btf, from->name_off);

	*ret = (struct member){.name = name ? name : "", .type = make(s->file, from->type, 0)};
	if (ret->type->kind == TYPE_NONE || (!*ret->name && ret->type->kind != TYPE_STRUCT))
		return false;
	if (!btf_kflag(t))
		bits = int_bits(s->file, from->type, &bit);
	if (bits)
		return set_bits(s->file, ret, bit, bits, t->size);
	ret->offset = bit / 8;
	return !(bit % 8) && (uint64_t)ret->offset + ret->type->size <= t->size && make_within(s, ret->type);
}

static void fill(struct composite *c)
{
	struct btf_struct *s = c->source;
	const struct btf_type *t = btf__type_by_id(s->file->btf, s->id);
	struct member *list = arena_new_array(s->file->all->arena, struct member, btf_vlen(t) + 1);

	s->busy = true;
	s->file->all->depth++;
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		c->n += make_member(s, t, i, &list[c->n]);
	s->file->all->depth--;
	s->busy = false;
	c->members = list;
}

static const struct type *make_struct(struct btf_file *f, const struct btf_type *t, uint32_t id)
{
	struct arena *a = f->all->arena;
	struct btf_struct *s = arena_new_obj(a, struct btf_struct);
	bool declared = btf_is_fwd(t), is_union = declared ? btf_kflag(t) : btf_is_union(t);
	const char *tag = is_union ? "union" : "struct", *name = name_of(f, t);

	*s = (struct btf_struct){.file = f, .id = id};
	s->c = (struct composite){
		.name = *name ? arena_printf(a, "%s %s", tag, name) : tag,
		.is_union = is_union,
		.origin = ORIGIN_KERNEL,
		.incomplete = declared,
		.fill = declared ? NULL : fill,
		.source = s,
	};
	return type_struct(a, declared ? 0 : t->size, &s->c);
}

/* ---- all kinds ---------------------------------------------------------- */

static const struct type *make_new(struct btf_file *f, const struct btf_type *t, uint32_t id,
	unsigned depth)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return make_int(f, t);
	case BTF_KIND_FLOAT:
		return t->size && t->size <= 16 ? bytes(f, t->size) : type_none;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return make_enum(f, t);
	case BTF_KIND_PTR:
		return make_pointer(f, t, depth);
	case BTF_KIND_ARRAY:
		return make_array(f, t, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		return t->size <= ARRAY_MAX || btf_is_fwd(t) ? make_struct(f, t, id) : type_none;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return make(f, t->type, depth + 1);
	default:
		return type_none;
	}
}

static const struct type *make(struct btf_file *f, uint32_t id, unsigned depth)
{
	const struct btf_type *t = btf__type_by_id(f->btf, id);
	struct btf_file *own = btf_owner(f, id);
	const struct type **made;

	if (!id || !t || !own || depth > DEPTH_MAX)
		return type_none;
	made = &own->made[id - own->first];
	if (!*made)
		*made = make_new(own, t, id, depth);
	return *made;
}

const struct type *btf_make(struct btf_file *f, uint32_t id)
{
	return make(f, id, 0);
}

/* ---- the source --------------------------------------------------------- */

static const struct type *find(void *state, enum type_tag tag, const char *name)
{
	struct btf_file *f;
	uint32_t id = btf_find(state, tag, name, &f);
	const struct type *t = id ? btf_make(f, id) : NULL;

	return t && t->kind != TYPE_NONE ? t : NULL;
}

static bool constant(void *state, const char *name, struct constant *ret)
{
	for (struct btf_file *f = btf_kernel(state); f; f = btf_next(f))
		for (uint32_t id = f->first; id < f->end; id++) {
			const struct btf_type *t = btf__type_by_id(f->btf, id);

			for (uint32_t i = 0; btf_is_any_enum(t) && i < btf_vlen(t); i++) {
				struct enumerator e = enumerator_of(f, t, i);

				if (strcmp(e.name, name) != 0)
					continue;
				*ret = (struct constant){
					.type = btf_make(f, id), .value = e.value, .origin = ORIGIN_KERNEL};
				return ret->type->kind == TYPE_INT;
			}
		}
	return false;
}

static bool is_of(enum type_tag tag, const struct btf_type *t)
{
	switch (tag) {
	case TAG_NAME:
		return btf_is_typedef(t);
	case TAG_STRUCT:
		return btf_is_struct(t);
	case TAG_UNION:
		return btf_is_union(t);
	case TAG_ENUM:
		return btf_is_any_enum(t);
	}
	return false;
}

static void names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg)
{
	for (struct btf_file *file = btf_kernel(state); file; file = btf_next(file))
		for (uint32_t id = file->first; id < file->end; id++) {
			const struct btf_type *t = btf__type_by_id(file->btf, id);

			if (is_of(tag, t) && *name_of(file, t))
				f(arg, name_of(file, t));
		}
}

static void close_all(void *state)
{
	struct btf_types *all = state;

	btf__free(all->own);
}

static const struct type_source source = {
	.find = find,
	.constant = constant,
	.names = names,
	.close = close_all,
};

void btf_source(struct arena *a, struct target *t, struct types *ts, struct type_source *ret)
{
	struct btf_types *all = arena_new_obj(a, struct btf_types);

	(void)ts;
	all->arena = a;
	all->target = t;
	*ret = source;
	ret->state = btf_kernel(all) ? all : NULL;
}
