// SPDX-License-Identifier: Apache-2.0
/* inline_text.c - names of functions and paths of files in debug information. */
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "inline_read.h"

#define NAME_BYTES_MAX 4096

bool inline_number(struct inlines *in, Dwarf_Die *die, unsigned attr, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word word;

	if (!in->dw->attr(die, attr, &a) || in->dw->formudata(&a, &word))
		return false;
	*ret = word;
	return true;
}

/* ---- names ------------------------------------------------------------------------ */

static const char *own_text(struct inlines *in, Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;

	return in->dw->attr(die, attr, &a) ? in->dw->formstring(&a) : NULL;
}

/* Moves to the DIE that this one completes or copies. */
static bool to_origin(struct inlines *in, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die of;

	if (!in->dw->attr(die, DW_AT_abstract_origin, &a) && !in->dw->attr(die, DW_AT_specification, &a))
		return false;
	if (!in->dw->formref_die(&a, &of))
		return false;
	*die = of;
	return true;
}

/* C's functions have no linkage name, and their names are complete. */
static bool has_scopes(struct inlines *in, Dwarf_Die *unit)
{
	switch (in->dw->srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
	case -1:
		return false;
	default:
		return true;
	}
}

static void add_scope(struct inlines *in, Dwarf_Die *die, struct str *out)
{
	int tag = in->dw->tag(die);
	const char *name = own_text(in, die, DW_AT_name);
	bool is_class = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;

	if (!is_class && tag != DW_TAG_namespace && tag != DW_TAG_union_type && tag != DW_TAG_enumeration_type &&
		tag != DW_TAG_module && tag != DW_TAG_subprogram)
		return;
	if (!name) /* a class without a name that has functions is a lambda's */
		name = tag == DW_TAG_namespace ? "(anonymous namespace)" : is_class ? "<lambda>" : NULL;
	if (name)
		str_addf(out, "%s::", name);
}

/* Goes down from the unit to the DIE: of the children, the last one that does not begin after it. */
static void add_scopes(struct inlines *in, Dwarf_Die *unit, const Dwarf_Die *to, struct str *out)
{
	Dwarf_Die die = *unit, child, next;

	for (unsigned depth = 0; depth < DIE_DEPTH_MAX && out->len < NAME_BYTES_MAX; depth++) {
		if (!inline_child(in, &die, &child) || child.addr > to->addr)
			return;
		for (next = child; inline_next(in, &next) && next.addr <= to->addr;)
			child = next;
		if (child.addr == to->addr)
			return;
		add_scope(in, &child, out);
		die = child;
	}
}

static const char *with_scopes(struct inlines *in, Dwarf_Die *die, const char *name)
{
	const char *known = idmap_pointer(&in->names, (uintptr_t)die->addr);
	_cleanup_(str_done) struct str text = {};
	Dwarf_Die unit;

	if (known)
		return known;
	if (!in->dw->diecu(die, &unit, NULL, NULL) || !has_scopes(in, &unit))
		return name;
	add_scopes(in, &unit, die, &text);
	str_add(&text, name);
	known = arena_strdup(in->arena, text.data);
	idmap_set(&in->names, (uintptr_t)die->addr, (uintptr_t)known);
	return known;
}

const char *inline_name(struct inlines *in, Dwarf_Die *die)
{
	Dwarf_Die at = *die, named = *die;
	const char *name = NULL, *linkage;

	for (unsigned i = 0; i < DIE_ORIGINS_MAX; i++) {
		linkage = own_text(in, &at, DW_AT_linkage_name);
		if (!linkage)
			linkage = own_text(in, &at, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name && (name = own_text(in, &at, DW_AT_name)))
			named = at;
		if (!to_origin(in, &at))
			break;
		if (name)
			named = at; /* the declaration stands in the namespace or class */
	}
	return name ? with_scopes(in, &named, name) : NULL;
}

/* ---- files ------------------------------------------------------------------------ */

/* A path of a .dwo file's table, which has no rows that libdw would keep. */
static const char *split_file(struct inlines *in, const struct unit *u, uint32_t file)
{
	Dwarf_Die die = u->die;
	Dwarf_Files *files;
	size_t n;

	if (in->dw->getsrcfiles(&die, &files, &n) || file >= n)
		return NULL;
	return in->dw->filesrc(files, file, NULL, NULL);
}

const char *inline_file(struct inlines *in, uint32_t unit, uint32_t file, bool of_die)
{
	const struct unit *u = inline_unit(in, unit);
	uint64_t key = (uint64_t)unit << 32 | file;
	_cleanup_(str_done) struct str path = {};
	const char *known;

	if (of_die && u->is_split)
		return split_file(in, u, file);
	known = idmap_pointer(&in->files, key);
	if (known)
		return *known ? known : NULL;
	if (u->has_lines)
		lines_file(&in->sections, u->lines, file, u->comp_dir, &path);
	known = arena_strdup(in->arena, path.len ? path.data : "");
	idmap_set(&in->files, key, (uintptr_t)known);
	return *known ? known : NULL;
}
