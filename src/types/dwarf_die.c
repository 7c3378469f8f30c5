// SPDX-License-Identifier: Apache-2.0
/* dwarf_die.c - reads DIEs (DWARF's nodes) and their attributes. */
#include "dwarf_read.h"

#include <string.h>

#include "base/arena.h"
#include "base/str.h"

/* The functions of libdw take pointers without const, but do not change anything visible. */
static Dwarf_Die *plain(const Dwarf_Die *die)
{
	return (Dwarf_Die *)die;
}

int die_tag(const struct debuginfo *d, const Dwarf_Die *die)
{
	return d->dw->tag(plain(die));
}

const char *die_name(const struct debuginfo *d, const Dwarf_Die *die)
{
	return d->dw->diename(plain(die));
}

const char *die_text(const struct debuginfo *d, const Dwarf_Die *die)
{
	const char *name = die_name(d, die);
	struct str s = {};

	if (!name)
		return NULL;
	str_add_safe(&s, name, strlen(name));
	if (strcmp(str_text(&s), name) != 0)
		name = arena_strdup(d->arena, str_text(&s));
	str_done(&s);
	return name;
}

bool die_child(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret)
{
	return d->dw->child(plain(die), ret) == 0 && ret->addr > die->addr;
}

bool die_next(const struct debuginfo *d, Dwarf_Die *die)
{
	const void *before = die->addr;

	return d->dw->siblingof(die, die) == 0 && die->addr > before;
}

/* Reads an attribute of the DIE, or of the DIE that it completes or copies. */
static bool attribute(
	const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, Dwarf_Attribute *ret)
{
	return d->dw->attr_integrate(plain(die), attr, ret) != NULL;
}

bool die_has(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;

	return attribute(d, die, attr, &a);
}

bool die_flag(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;
	bool flag;

	return attribute(d, die, attr, &a) && !d->dw->formflag(&a, &flag) && flag;
}

bool die_is_declaration(const struct debuginfo *d, const Dwarf_Die *die)
{
	Dwarf_Attribute a;
	bool flag;

	return d->dw->attr(plain(die), DW_AT_declaration, &a) && !d->dw->formflag(&a, &flag) && flag;
}

bool die_unsigned(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word word;

	if (!attribute(d, die, attr, &a) || d->dw->formudata(&a, &word))
		return false;
	*ret = word;
	return true;
}

bool die_ref(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return attribute(d, die, attr, &a) && d->dw->formref_die(&a, ret);
}

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type ||
	       tag == DW_TAG_immutable_type || tag == DW_TAG_packed_type ||
	       tag == DW_TAG_shared_type || tag == DW_TAG_template_alias;
}

bool die_is_composite(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_in_unit(int tag)
{
	return die_is_composite(tag) || tag == DW_TAG_enumeration_type;
}

bool die_strip(const struct debuginfo *d, Dwarf_Die *die)
{
	Dwarf_Die next;
	unsigned steps = 0;

	while (is_alias(die_tag(d, die))) {
		if (++steps > DIE_DEPTH_MAX || !die_ref(d, die, DW_AT_type, &next))
			return false;
		*die = next;
	}
	/* The members of a struct or enum may be in a type unit. */
	if (is_in_unit(die_tag(d, die)) && die_ref(d, die, DW_AT_signature, &next) &&
		is_in_unit(die_tag(d, &next)))
		*die = next;
	return true;
}

bool die_type(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret)
{
	return die_ref(d, die, DW_AT_type, ret) && die_strip(d, ret);
}

/* ---- sizes -------------------------------------------------------------- */

uint64_t die_subrange(const struct debuginfo *d, const Dwarf_Die *range)
{
	uint64_t n, upper, lower = 0;

	if (die_unsigned(d, range, DW_AT_count, &n))
		return n;
	if (!die_unsigned(d, range, DW_AT_upper_bound, &upper) || upper > INT64_MAX)
		return 0;
	die_unsigned(d, range, DW_AT_lower_bound, &lower);
	return upper < lower ? 0 : upper - lower + 1;
}

uint64_t die_elements(const struct debuginfo *d, const Dwarf_Die *array)
{
	uint64_t n = 1;
	Dwarf_Die range;
	bool any = false;

	if (!die_child(d, array, &range))
		return 0;
	do {
		if (die_tag(d, &range) != DW_TAG_subrange_type)
			continue;
		any = true;
		if (__builtin_mul_overflow(n, die_subrange(d, &range), &n))
			return 0;
	} while (die_next(d, &range));
	return any ? n : 0;
}

static uint32_t size_of(const struct debuginfo *d, const Dwarf_Die *type, unsigned depth)
{
	uint64_t size = 0, n;
	Dwarf_Die of;

	if (die_unsigned(d, type, DW_AT_byte_size, &size))
		return size <= DIE_SIZE_MAX ? (uint32_t)size : 0;
	switch (die_tag(d, type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return 8;
	case DW_TAG_ptr_to_member_type: /* for a function: its code and an offset for `this` */
		return die_type(d, type, &of) && die_tag(d, &of) == DW_TAG_subroutine_type ? 16 : 8;
	case DW_TAG_array_type:
		n = die_elements(d, type);
		if (depth >= DIE_DEPTH_MAX || !die_type(d, type, &of) ||
			__builtin_mul_overflow(n, size_of(d, &of, depth + 1), &size))
			return 0;
		return size <= DIE_SIZE_MAX ? (uint32_t)size : 0;
	default:
		return die_tag(d, type) == DW_TAG_enumeration_type && depth < DIE_DEPTH_MAX &&
				       die_type(d, type, &of) ? size_of(d, &of, depth + 1) : 0;
	}
}

uint32_t die_size(const struct debuginfo *d, const Dwarf_Die *type)
{
	return size_of(d, type, 0);
}

bool die_member_offset(const struct debuginfo *d, const Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	*ret = 0;
	if (!attribute(d, member, DW_AT_data_member_location, &a))
		return !die_has(d, member, DW_AT_data_bit_offset);
	if (die_unsigned(d, member, DW_AT_data_member_location, ret))
		return true;
	if (d->dw->getlocation(&a, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

bool die_unit_is_rust(const struct debuginfo *d, const Dwarf_Die *die)
{
	Dwarf_Die unit;

	return d->dw->diecu(plain(die), &unit, NULL, NULL) && d->dw->srclang(&unit) == DW_LANG_Rust;
}
