// SPDX-License-Identifier: Apache-2.0
/* dwarf_type.c - makes the model's types of DIEs. A struct's members are read at the first use, and each
 * DIE becomes one type, so that types may refer to themselves. The model has no floats: they are bytes. */
#include "dwarf_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

enum { ENUMERATORS_MAX = 1 << 16, MEMBERS_MAX = 1 << 14, HOLDERS_MAX = 64, DIMENSIONS_MAX = 16 };

static const struct type *type_of(struct debuginfo *d, const Dwarf_Die *die, unsigned depth);

/* ---- types that were made already --------------------------------------- */

static struct die_type *slot_of(struct die_type *slots, size_t size, const void *addr)
{
	size_t i = ((uintptr_t)addr * 0x9e3779b97f4a7c15) >> 20;

	while (slots[i & (size - 1)].addr && slots[i & (size - 1)].addr != addr)
		i++;
	return &slots[i & (size - 1)];
}

static void grow(struct debuginfo *d)
{
	size_t size = d->types.size ? 2 * d->types.size : 64;
	struct die_type *slots = calloc(size, sizeof(*slots));

	if (!slots)
		out_of_memory();
	for (size_t i = 0; i < d->types.size; i++)
		if (d->types.slots[i].addr)
			*slot_of(slots, size, d->types.slots[i].addr) = d->types.slots[i];
	free(d->types.slots);
	d->types.slots = slots;
	d->types.size = size;
}

static void remember(struct debuginfo *d, const Dwarf_Die *die, const struct type *t)
{
	struct die_type *s;

	if (2 * d->types.n >= d->types.size)
		grow(d);
	s = slot_of(d->types.slots, d->types.size, die->addr);
	d->types.n += !s->addr;
	*s = (struct die_type){die->addr, t};
}

static const struct type *known(const struct debuginfo *d, const Dwarf_Die *die)
{
	return d->types.size ? slot_of(d->types.slots, d->types.size, die->addr)->type : NULL;
}

/* ---- integers, enums, arrays -------------------------------------------- */

static bool is_int_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const struct type *bytes(struct debuginfo *d, uint32_t n)
{
	return type_array(d->arena, type_uint8, n);
}

static bool is_signed(uint64_t encoding)
{
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ||
	       encoding == DW_ATE_signed_fixed;
}

static const struct type *base_type(struct debuginfo *d, const Dwarf_Die *die)
{
	const char *name = die_text(d, die);
	uint32_t size = die_size(d, die);
	uint64_t encoding = 0;

	die_unsigned(d, die, DW_AT_encoding, &encoding);
	if (!is_int_size(size) || encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
		encoding == DW_ATE_imaginary_float || encoding == DW_ATE_decimal_float)
		return size ? bytes(d, size) : type_none;
	if (encoding == DW_ATE_boolean && size == 1)
		return type_bool;
	return type_c_int(d->arena, size, is_signed(encoding), name);
}

static bool is_char(const struct type *t)
{
	return t->kind == TYPE_INT && t->size == 1 && t->integer.c_name &&
	       !strcmp(t->integer.c_name, "char");
}

static const struct type *array(
	struct debuginfo *d, const struct type *of, const Dwarf_Die *die)
{
	uint64_t n[DIMENSIONS_MAX];
	unsigned dimensions = 0;
	uint64_t size = of->size;
	const struct type *t = of;
	Dwarf_Die range;

	if (die_child(d, die, &range))
		do {
			if (die_tag(d, &range) == DW_TAG_subrange_type && dimensions < DIMENSIONS_MAX)
				n[dimensions++] = die_subrange(d, &range);
		} while (die_next(d, &range));
	for (unsigned i = 0; i < dimensions; i++)
		if (__builtin_mul_overflow(size, n[i], &size) || size > DIE_SIZE_MAX || n[i] > UINT32_MAX)
			return bytes(d, 0);
	if (!dimensions)
		return type_array(d->arena, of, 0);
	while (dimensions-- > 0)
		if (t == of && is_char(of) && n[dimensions] && n[dimensions] <= TYPE_STRING_MAX)
			t = type_string(d->arena, (uint32_t)n[dimensions]);
		else
			t = type_array(d->arena, t, (uint32_t)n[dimensions]);
	return t;
}

static bool enum_is_signed(
	struct debuginfo *d, const Dwarf_Die *die, const struct enumeration *e)
{
	uint64_t encoding;
	Dwarf_Die of;

	if (die_unsigned(d, die, DW_AT_encoding, &encoding) ||
		(die_type(d, die, &of) && die_unsigned(d, &of, DW_AT_encoding, &encoding)))
		return is_signed(encoding);
	for (unsigned i = 0; i < e->n; i++)
		if (e->list[i].value > INT64_MAX)
			return true;
	return false;
}

static const char *tagged(struct debuginfo *d, const char *tag, const Dwarf_Die *die)
{
	const char *name = die_text(d, die);

	return name ? arena_printf(d->arena, "%s %s", tag, name) : tag;
}

static const struct type *enumeration(struct debuginfo *d, const Dwarf_Die *die)
{
	struct enumeration *e = arena_new_obj(d->arena, struct enumeration);
	VEC(struct enumerator) list = {};
	uint32_t size = die_size(d, die);
	struct enumerator *copy;
	Dwarf_Die child;

	e->name = tagged(d, "enum", die);
	if (die_child(d, die, &child))
		do {
			struct enumerator one = {.name = die_text(d, &child)};

			if (die_tag(d, &child) == DW_TAG_enumerator && one.name &&
				die_unsigned(d, &child, DW_AT_const_value, &one.value))
				vec_push(&list, one);
		} while (list.len < ENUMERATORS_MAX && die_next(d, &child));
	copy = arena_new_array(d->arena, struct enumerator, list.len + 1);
	if (list.len)
		memcpy(copy, list.data, list.len * sizeof(*copy));
	e->list = copy;
	e->n = (unsigned)list.len;
	vec_done(&list);
	return type_enum(d->arena, is_int_size(size) ? size : 4, enum_is_signed(d, die, e), e);
}

/* ---- struct, union, class ----------------------------------------------- */

struct die_source { /* source of a composite */
	struct debuginfo *info;
	Dwarf_Die die;
};

struct fill {
	struct debuginfo *info;
	uint32_t size;
	const Dwarf_Die *die;
	VEC(struct member) list;
};

/* Returns whether the type leads back to the struct, through members and elements that are as large as the
 * struct or array that holds them. No compiler writes such types; following one would not end. */
static bool holds(struct debuginfo *d, Dwarf_Die type, const void *addr, uint32_t size, unsigned *left)
{
	Dwarf_Die child, of;

	if (!*left || !--*left || type.addr == addr)
		return true;
	if (die_tag(d, &type) == DW_TAG_array_type)
		return die_type(d, &type, &of) && holds(d, of, addr, size, left);
	if (!die_is_composite(die_tag(d, &type)) || die_size(d, &type) < size ||
		!die_child(d, &type, &child))
		return false;
	do {
		if (die_type(d, &child, &of) && die_tag(d, &of) != DW_TAG_pointer_type &&
			(die_tag(d, &of) == DW_TAG_array_type || die_size(d, &of) >= size) &&
			(die_tag(d, &child) == DW_TAG_member || die_tag(d, &child) == DW_TAG_inheritance) &&
			holds(d, of, addr, size, left))
			return true;
	} while (die_next(d, &child));
	return false;
}

/* Returns whether the member fits in its struct. */
static bool fits(struct fill *f, const Dwarf_Die *member, uint64_t offset, const struct type *t)
{
	unsigned left = HOLDERS_MAX;
	Dwarf_Die type;

	if (offset > f->size || t->size > f->size - offset)
		return false;
	if (t->size < f->size || !die_type(f->info, member, &type))
		return true;
	return !holds(f->info, type, f->die->addr, f->size, &left);
}

/* DWARF 2 and 3 count bits from the highest bit of the unit, later versions from the struct's first bit. */
static bool bit_start(
	struct debuginfo *d, const Dwarf_Die *die, uint32_t size, uint64_t bits, uint64_t *ret)
{
	uint64_t offset, from_high, unit = size;

	if (die_unsigned(d, die, DW_AT_data_bit_offset, ret))
		return *ret / 8 <= DIE_SIZE_MAX;
	if (!die_member_offset(d, die, &offset) || offset > DIE_SIZE_MAX)
		return false;
	*ret = 8 * offset;
	if (!die_unsigned(d, die, DW_AT_bit_offset, &from_high))
		return true;
	die_unsigned(d, die, DW_AT_byte_size, &unit);
	*ret += 8 * unit - bits - from_high;
	return unit <= 16 && *ret / 8 <= DIE_SIZE_MAX;
}

/* Uses the type's aligned unit if it contains all bits; in a packed struct, the bytes that contain them. */
static bool bit_field(struct fill *f, const Dwarf_Die *die, struct member *m)
{
	uint32_t unit = m->type->size;
	uint64_t bits, start;

	if (!die_unsigned(f->info, die, DW_AT_bit_size, &bits) || !bits || bits > 64 ||
		(m->type->kind != TYPE_INT && m->type->kind != TYPE_BOOL) ||
		!bit_start(f->info, die, unit, bits, &start))
		return false;
	m->offset = (uint32_t)(start / 8 / unit * unit);
	if (start - 8 * m->offset + bits > 8 * unit || m->offset + unit > f->size)
		m->offset = (uint32_t)(start / 8);
	if (m->offset + unit > f->size && unit <= f->size)
		m->offset = f->size - unit;
	if (start < 8 * m->offset || start - 8 * m->offset + bits > 8 * unit || m->offset + unit > f->size)
		return false;
	m->bit_offset = (uint8_t)(start - 8 * m->offset);
	m->bit_size = (uint8_t)bits;
	return true;
}

static void add_member(struct fill *f, const Dwarf_Die *die, const char *name)
{
	struct member m = {.name = name, .type = die_to_type(f->info, die)};
	uint64_t offset;

	if (die_has(f->info, die, DW_AT_bit_size)) {
		if (bit_field(f, die, &m))
			vec_push(&f->list, m);
		return;
	}
	if (!die_member_offset(f->info, die, &offset) || m.type->kind == TYPE_NONE ||
		!fits(f, die, offset, m.type))
		return;
	m.offset = (uint32_t)offset;
	if (*name || m.type->kind == TYPE_STRUCT)
		vec_push(&f->list, m);
}

static void add_members(struct fill *f, const Dwarf_Die *die, unsigned depth);

/* Adds the members of a Rust enum: the discriminant, and all variants side by side. */
static void add_variants(struct fill *f, const Dwarf_Die *part, unsigned depth)
{
	Dwarf_Die child;

	if (!die_child(f->info, part, &child))
		return;
	do {
		if (die_tag(f->info, &child) == DW_TAG_variant)
			add_members(f, &child, depth + 1);
		else if (die_tag(f->info, &child) == DW_TAG_member)
			add_member(f, &child, "discriminant");
	} while (f->list.len < MEMBERS_MAX && die_next(f->info, &child));
}

static void add_members(struct fill *f, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	const char *name;

	if (depth > 4 || !die_child(f->info, die, &child))
		return;
	do {
		switch (die_tag(f->info, &child)) {
		case DW_TAG_member:
			name = die_text(f->info, &child);
			if (!die_is_declaration(f->info, &child) && !die_flag(f->info, &child, DW_AT_external))
				add_member(f, &child, name ? name : "");
			break;
		case DW_TAG_inheritance:
			add_member(f, &child, "");
			break;
		case DW_TAG_variant_part:
			add_variants(f, &child, depth);
			break;
		default:
			break;
		}
	} while (f->list.len < MEMBERS_MAX && die_next(f->info, &child));
}

static void fill(struct composite *c)
{
	struct die_source *s = c->source;
	struct fill f = {.info = s->info, .size = die_size(s->info, &s->die), .die = &s->die};
	struct member *copy;

	add_members(&f, &s->die, 0);
	copy = arena_new_array(s->info->arena, struct member, f.list.len + 1);
	if (f.list.len)
		memcpy(copy, f.list.data, f.list.len * sizeof(*copy));
	c->members = copy;
	c->n = (unsigned)f.list.len;
	vec_done(&f.list);
}

static const struct type *composite(struct debuginfo *d, const Dwarf_Die *die)
{
	struct composite *c = arena_new_obj(d->arena, struct composite);
	struct die_source *s = arena_new_obj(d->arena, struct die_source);

	*s = (struct die_source){d, *die};
	c->is_union = die_tag(d, die) == DW_TAG_union_type;
	c->name = tagged(d, c->is_union ? "union" : "struct", die);
	c->incomplete = die_is_declaration(d, die);
	c->source = s;
	c->origin = ORIGIN_FILE;
	if (!c->incomplete)
		c->fill = fill;
	return type_struct(d->arena, c->incomplete ? 0 : die_size(d, die), c);
}

/* ---- any type ---------------------------------------------------------------- */

static const struct type *pointed(struct debuginfo *d, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die to;

	if (!die_type(d, die, &to))
		return type_none;
	return type_of(d, &to, depth + 1);
}

static const struct type *make(struct debuginfo *d, const Dwarf_Die *die, unsigned depth)
{
	uint32_t size;

	switch (die_tag(d, die)) {
	case DW_TAG_base_type:
		return base_type(d, die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return type_pointer(d->arena, pointed(d, die, depth), SPACE_USER);
	case DW_TAG_array_type:
		return array(d, pointed(d, die, depth), die);
	case DW_TAG_enumeration_type:
		return enumeration(d, die);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return composite(d, die);
	case DW_TAG_ptr_to_member_type:
		return die_size(d, die) == 8 ? type_uint64 : type_array(d->arena, type_uint64, 2);
	default: /* a function, decltype(nullptr), types of other languages */
		size = die_size(d, die);
		return size ? bytes(d, size) : type_none;
	}
}

static const struct type *type_of(struct debuginfo *d, const Dwarf_Die *die, unsigned depth)
{
	const struct type *t = known(d, die);

	if (t)
		return t;
	if (depth > DIE_DEPTH_MAX)
		return type_none;
	t = make(d, die, depth);
	remember(d, die, t);
	return t;
}

const struct type *die_as_type(struct debuginfo *d, const Dwarf_Die *die)
{
	Dwarf_Die type = *die;

	return die_strip(d, &type) ? type_of(d, &type, 0) : type_none;
}

const struct type *die_to_type(struct debuginfo *d, const Dwarf_Die *die)
{
	return pointed(d, die, 0);
}
