// SPDX-License-Identifier: Apache-2.0
/* dwarf_print.c - writes types as C and C++ do, for listings. */
#include "dwarf_read.h"

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"

enum { PRINT_DEPTH_MAX = 16, PRINT_MAX = 512, PARAMS_MAX = 32 };

static void add_type_of(struct debuginfo *d, struct str *s, const Dwarf_Die *die, unsigned depth);

static void add_name(
	struct debuginfo *d, struct str *s, const char *tag, const Dwarf_Die *die)
{
	Dwarf_Die whole = *die; /* a struct in a type unit has its name there */
	const char *name = die_text(d, die);

	if (!name && *tag && die_strip(d, &whole))
		name = die_text(d, &whole);
	str_addf(s, "%s%s", tag, *tag && name ? " " : "");
	str_add(s, name ? name : *tag ? "" : "?");
}

/* Adds "int(const char*, ...)". */
static void add_function(struct debuginfo *d, struct str *s, const Dwarf_Die *die, const char *mark,
	unsigned depth)
{
	Dwarf_Die child;
	unsigned n = 0;

	add_type_of(d, s, die, depth);
	str_addf(s, "%s(", mark);
	if (die_child(d, die, &child))
		do {
			int tag = die_tag(d, &child);

			if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters)
				continue;
			str_add(s, n++ ? ", " : "");
			if (tag == DW_TAG_formal_parameter)
				add_type_of(d, s, &child, depth);
			else
				str_add(s, "...");
		} while (n < PARAMS_MAX && die_next(d, &child));
	str_addc(s, ')');
}

static void add_pointer(struct debuginfo *d, struct str *s, const Dwarf_Die *die, const char *mark,
	unsigned depth)
{
	Dwarf_Die to;

	if (die_ref(d, die, DW_AT_type, &to) && die_tag(d, &to) == DW_TAG_subroutine_type) {
		add_function(d, s, &to, *mark == '*' ? " (*)" : " (&)", depth);
		return;
	}
	add_type_of(d, s, die, depth);
	str_add(s, mark);
}

static void add_array(struct debuginfo *d, struct str *s, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die range;

	add_type_of(d, s, die, depth);
	if (!die_child(d, die, &range))
		return;
	do {
		if (die_tag(d, &range) == DW_TAG_subrange_type)
			str_addf(s, "[%llu]", (unsigned long long)die_subrange(d, &range));
	} while (s->len < 256 && die_next(d, &range));
}

/* Adds "const char", but "char* const". */
static void add_qualified(struct debuginfo *d, struct str *s, const Dwarf_Die *die, const char *word,
	unsigned depth)
{
	Dwarf_Die of;
	bool pointer = die_ref(d, die, DW_AT_type, &of) && die_tag(d, &of) == DW_TAG_pointer_type;

	if (!pointer)
		str_addf(s, "%s ", word);
	add_type_of(d, s, die, depth);
	if (pointer)
		str_addf(s, " %s", word);
}

/* Adds "long pair::*". */
static void add_member_pointer(
	struct debuginfo *d, struct str *s, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die holder;

	add_type_of(d, s, die, depth);
	str_addc(s, ' ');
	if (die_ref(d, die, DW_AT_containing_type, &holder))
		add_name(d, s, "", &holder);
	str_add(s, "::*");
}

/* The text before a type's name, or around the type that it refers to. */
static const struct {
	int tag;
	void (*add)(struct debuginfo *d, struct str *s, const Dwarf_Die *die, const char *word, unsigned depth);
	const char *word;
} forms[] = {
	{DW_TAG_pointer_type, add_pointer, "*"},
	{DW_TAG_reference_type, add_pointer, "&"},
	{DW_TAG_rvalue_reference_type, add_pointer, "&&"},
	{DW_TAG_const_type, add_qualified, "const"},
	{DW_TAG_volatile_type, add_qualified, "volatile"},
	{DW_TAG_atomic_type, add_qualified, "_Atomic"},
	{DW_TAG_subroutine_type, add_function, ""},
};

static void add_type(struct debuginfo *d, struct str *s, const Dwarf_Die *die, unsigned depth)
{
	int tag = die_tag(d, die);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].tag == tag) {
			forms[i].add(d, s, die, forms[i].word, depth);
			return;
		}
	if (tag == DW_TAG_restrict_type)
		add_type_of(d, s, die, depth);
	else if (tag == DW_TAG_array_type)
		add_array(d, s, die, depth);
	else if (tag == DW_TAG_ptr_to_member_type)
		add_member_pointer(d, s, die, depth);
	else
		add_name(d, s, tag == DW_TAG_structure_type ? "struct" : tag == DW_TAG_union_type ? "union" :
			tag == DW_TAG_enumeration_type ? "enum" : "", die);
}

static void add_type_of(struct debuginfo *d, struct str *s, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die type;

	if (depth > PRINT_DEPTH_MAX || s->len > PRINT_MAX)
		str_add(s, "...");
	else if (die_ref(d, die, DW_AT_type, &type))
		add_type(d, s, &type, depth + 1);
	else
		str_add(s, "void");
}

const char *die_c_type(struct debuginfo *d, const Dwarf_Die *die)
{
	struct str s = {};
	const char *text;

	add_type_of(d, &s, die, 0);
	text = arena_strdup(d->arena, str_text(&s));
	str_done(&s);
	return text;
}
