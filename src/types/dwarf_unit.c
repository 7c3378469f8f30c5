// SPDX-License-Identifier: Apache-2.0
/* dwarf_unit.c - finds the DIE of the function that begins at an address.
 *
 * Only the address ranges of all units are read, then the functions of one unit. So the time hardly depends on
 * the file's size. */
#include "dwarf_read.h"

#include <stdlib.h>

enum { RANGES_MAX = 1 << 16, BACK_MAX = 64, UNITS_MAX = 1 << 20 };

/* ---- units -------------------------------------------------------------- */

static void add_ranges(struct debuginfo *d, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		ptrdiff_t next = d->dw->ranges(die, at, &base, &start, &end);

		if (next <= at)
			return;
		at = next;
		if (start < end)
			vec_push(&d->ranges, (struct unit_range){start, end, unit});
	}
}

static int range_cmp(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->unit > y->unit) - (x->unit < y->unit);
}

/* Compilers of these languages put names into .debug_str. */
static bool names_are_strings(const struct debuginfo *d, Dwarf_Die *unit)
{
	switch (d->dw->srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

void units_read(struct debuginfo *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	uint8_t kind;

	if (d->units_read)
		return;
	d->units_read = true;
	while (d->units.len < UNITS_MAX &&
		!d->dw->get_units(d->dwarf, cu, &cu, NULL, &kind, &die, &sub)) {
		bool split = kind == DW_UT_skeleton && sub.addr;

		if (split || !names_are_strings(d, &die))
			d->strings = NULL;
		add_ranges(d, &die, (uint32_t)d->units.len);
		vec_push(&d->units, (struct unit){.die = split ? sub : die});
	}
	if (d->ranges.len)
		qsort(d->ranges.data, d->ranges.len, sizeof(*d->ranges.data), range_cmp);
}

/* ---- functions ---------------------------------------------------------- */

struct walk {
	struct debuginfo *info;
	struct unit *unit;
	bool all;                /* including functions within functions */
	const Dwarf_Die *origin; /* its inlined copies are counted instead */
	unsigned copies;
};

/* Returns whether the DIE may contain functions with code. */
static bool is_holder(const struct walk *w, int tag)
{
	if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
		tag == DW_TAG_inlined_subroutine)
		return w->all;
	return tag == DW_TAG_namespace || tag == DW_TAG_module || die_is_composite(tag);
}

/* Code in several pieces (f and f.cold) has ranges instead of an address. It begins with the first range. */
static bool entry_of(const struct debuginfo *d, Dwarf_Die *die, Dwarf_Addr *ret)
{
	Dwarf_Addr base, end;

	return !d->dw->entrypc(die, ret) || d->dw->ranges(die, 0, &base, ret, &end) > 0;
}

static void visit(struct walk *w, Dwarf_Die *die, int tag)
{
	Dwarf_Addr entry;
	Dwarf_Die of;

	if (!w->origin && tag == DW_TAG_subprogram && entry_of(w->info, die, &entry))
		vec_push(&w->unit->functions, (struct unit_function){entry, *die});
	if (w->origin && tag == DW_TAG_inlined_subroutine &&
		die_ref(w->info, die, DW_AT_abstract_origin, &of) && of.addr == w->origin->addr)
		w->copies++;
}

static void walk(struct walk *w, const Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || !die_child(w->info, die, &child))
		return;
	do {
		int tag = die_tag(w->info, &child);

		visit(w, &child, tag);
		if (is_holder(w, tag))
			walk(w, &child, depth + 1);
	} while (die_next(w->info, &child));
}

static int function_cmp(const void *a, const void *b)
{
	const struct unit_function *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return (x->die.addr > y->die.addr) - (x->die.addr < y->die.addr);
}

static void read_functions(struct debuginfo *d, struct unit *u, bool all)
{
	struct walk w = {.info = d, .unit = u, .all = all};

	if (all ? u->all_read : u->functions_read)
		return;
	u->functions_read = true;
	u->all_read = all;
	u->functions.len = 0;
	walk(&w, &u->die, 0);
	if (u->functions.len)
		qsort(u->functions.data, u->functions.len, sizeof(*u->functions.data), function_cmp);
}

static bool function_in(const struct unit *u, uint64_t vaddr, Dwarf_Die *ret)
{
	size_t lo = 0, hi = u->functions.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->functions.data[mid].entry < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == u->functions.len || u->functions.data[lo].entry != vaddr)
		return false;
	*ret = u->functions.data[lo].die;
	return true;
}

/* Returns the next unit that covers the address, or NULL after the last; *i is the place to continue.
 * Ranges of code that the linker dropped begin at 0 and may cover anything. */
static struct unit *unit_at(struct debuginfo *d, uint64_t vaddr, size_t *i, unsigned *left)
{
	while (*i > 0 && (*left)-- > 0) {
		const struct unit_range *r = &d->ranges.data[--*i];

		if (vaddr < r->end)
			return &d->units.data[r->unit];
	}
	return NULL;
}

static size_t after(const struct debuginfo *d, uint64_t vaddr)
{
	size_t lo = 0, hi = d->ranges.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->ranges.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool units_function(struct debuginfo *d, uint64_t vaddr, Dwarf_Die *ret)
{
	units_read(d);
	for (int all = 0; all < 2; all++) {
		size_t i = after(d, vaddr);
		unsigned left = BACK_MAX;
		struct unit *u;

		while ((u = unit_at(d, vaddr, &i, &left))) {
			read_functions(d, u, all);
			if (function_in(u, vaddr, ret))
				return true;
		}
	}
	return false;
}

unsigned units_inlined(struct debuginfo *d, uint64_t vaddr, const Dwarf_Die *origin)
{
	struct walk w = {.info = d, .all = true, .origin = origin};
	size_t i = after(d, vaddr);
	unsigned left = BACK_MAX;

	w.unit = unit_at(d, vaddr, &i, &left);
	if (w.unit)
		walk(&w, &w.unit->die, 0);
	return w.copies;
}
