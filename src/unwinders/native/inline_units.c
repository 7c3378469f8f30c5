// SPDX-License-Identifier: Apache-2.0
/* inline_units.c - the units and functions of a file's debug information, by address. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "inline_read.h"

#define CLOCK_DIES 1024 /* DIEs between two looks at the clock */

/* ---- open and close --------------------------------------------------------------- */

static struct line_text section(const struct elf *e, const char *name)
{
	struct elf_section s;

	return elf_section(e, name, &s) && s.data ? (struct line_text){s.data, s.size} : (struct line_text){};
}

int inline_opened(struct inlines *in)
{
	struct dwarf_file *file;

	if (in->opened <= 0)
		return in->opened;
	in->opened = dwarf_file_open(in->program, in->dir, &file);
	if (in->opened)
		return in->opened;
	in->dw = file->dw;
	in->file = file;
	in->has_parts = in->has_parts || file->has_parts;
	in->is_partial = in->is_partial || file->is_partial;
	in->sections = (struct line_sections){section(file->elf, ".debug_line"), section(file->elf, ".debug_str"),
		section(file->elf, ".debug_line_str")};
	return 0;
}

/* Returns the file with the debug information, or NULL. */
static const struct elf *source_of(const struct inlines *in)
{
	return dwarf_file_is_in(in->program) ? in->program : elf_debug(in->program);
}

/* An image in memory has no identity. */
static bool is_kept(const struct inlines *in, const struct elf *source)
{
	return in->dir >= 0 && in->key.name[0] && source && elf_identity(source)->inode;
}

static bool load(struct inlines *in)
{
	const struct elf *source = source_of(in);

	return is_kept(in, source) &&
		!chains_load(in->known, in->dir, &in->key, elf_identity(source), elf_path(source));
}

uint64_t inlines_store(struct inlines *in)
{
	const struct elf *source = source_of(in);
	int64_t size = 0;

	if (is_kept(in, source) && !in->is_partial)
		size = chains_store(in->known, in->dir, &in->key, elf_identity(source), elf_path(source),
			in->has_parts);
	return size > 0 ? (uint64_t)size : 0; /* a failing cache only costs time */
}

int inlines_open(struct elf *e, int dir, const struct cache_key *key, struct inlines **ret)
{
	struct inlines *in = calloc(1, sizeof(*in));
	int r;

	if (!in)
		out_of_memory();
	in->program = e;
	in->dir = dir;
	in->opened = 1;
	if (key)
		in->key = *key;
	in->known = chains_new();
	in->arena = arena_new();
	r = load(in) ? 0 : inline_opened(in);
	if (r)
		inlines_close(in);
	else
		*ret = in;
	return r;
}

void inlines_close(struct inlines *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->units.len; i++)
		vec_done(&in->units.data[i].functions);
	vec_done(&in->units);
	vec_done(&in->ranges);
	idmap_done(&in->files);
	idmap_done(&in->names);
	arena_free(in->arena);
	chains_free(in->known);
	dwarf_file_close(in->file);
	free(in);
}

void inlines_release(const struct inlines *in)
{
	if (in->file)
		dwarf_file_release(in->file);
}

/* ---- DIEs ------------------------------------------------------------------------- */

void inline_begin(struct inlines *in, uint64_t start)
{
	in->start = start;
	in->is_over = in->ns > TOTAL_NS || in->dies > DIES_MAX;
}

bool inline_is_over(struct inlines *in)
{
	in->is_over |= clock_ns(CLOCK_THREAD_CPUTIME_ID) - in->start > FIND_NS || in->dies > DIES_MAX;
	in->is_cut |= in->is_over;
	return in->is_over;
}

static bool count_die(struct inlines *in)
{
	return !in->is_over && (++in->dies % CLOCK_DIES || !inline_is_over(in));
}

bool inline_child(struct inlines *in, Dwarf_Die *die, Dwarf_Die *ret)
{
	return count_die(in) && in->dw->child(die, ret) == 0 && ret->addr > die->addr;
}

bool inline_next(struct inlines *in, Dwarf_Die *die)
{
	const void *before = die->addr;

	return count_die(in) && in->dw->siblingof(die, die) == 0 && die->addr > before;
}

/* ---- units ------------------------------------------------------------------------ */

static void add_unit_ranges(struct inlines *in, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned i = 0; i < DIE_RANGES_MAX; i++) {
		ptrdiff_t next = in->dw->ranges(die, at, &base, &start, &end);

		if (next <= at)
			return;
		at = next;
		if (start < end)
			vec_push(&in->ranges, (struct unit_range){start, end, unit});
	}
}

static const char *text_of(struct inlines *in, Dwarf_Die *die, unsigned attr)
{
	Dwarf_Attribute a;

	return in->dw->attr(die, attr, &a) ? in->dw->formstring(&a) : NULL;
}

/* die: of a split unit, the skeleton, which has the lines and the ranges. */
static void add_unit(struct inlines *in, Dwarf_Die *die, Dwarf_Die *split, uint16_t version)
{
	struct unit u = {.die = split ? *split : *die, .is_split = split, .version = version};

	u.has_lines = inline_number(in, die, DW_AT_stmt_list, &u.lines);
	u.comp_dir = text_of(in, die, DW_AT_comp_dir);
	add_unit_ranges(in, die, (uint32_t)in->units.len);
	vec_push(&in->units, u);
}

static int range_cmp(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->unit > y->unit) - (x->unit < y->unit);
}

static void read_units(struct inlines *in)
{
	Dwarf_Die die, sub;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t kind;

	in->units_read = true;
	while (in->units.len < UNITS_MAX && !inline_is_over(in) &&
		!in->dw->get_units(in->file->dwarf, cu, &cu, &version, &kind, &die, &sub)) {
		in->has_parts |= kind == DW_UT_skeleton;
		in->is_partial |= kind == DW_UT_skeleton && !sub.addr;
		if (kind == DW_UT_compile || kind == DW_UT_skeleton)
			add_unit(in, &die, kind == DW_UT_skeleton && sub.addr ? &sub : NULL, version);
	}
	if (in->ranges.len)
		qsort(in->ranges.data, in->ranges.len, sizeof(*in->ranges.data), range_cmp);
}

/* Ranges of code that the linker dropped begin at 0 and may cover anything. */
uint32_t inline_unit_at(struct inlines *in, uint64_t vaddr, unsigned candidate)
{
	size_t lo = 0, hi;
	uint32_t last = NO_UNIT;

	if (!in->units_read)
		read_units(in);
	for (hi = in->ranges.len; lo < hi;) { /* find the first range above vaddr */
		size_t mid = (lo + hi) / 2;

		if (in->ranges.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (unsigned left = BACK_MAX; lo > 0 && left > 0; left--) {
		const struct unit_range *r = &in->ranges.data[--lo];

		if (vaddr >= r->end || r->unit == last)
			continue;
		if (!candidate--)
			return r->unit;
		last = r->unit;
	}
	return NO_UNIT;
}

const struct unit *inline_unit(const struct inlines *in, uint32_t unit)
{
	return &in->units.data[unit];
}

/* ---- functions -------------------------------------------------------------------- */

static void add_function(struct inlines *in, struct unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end, entry = 0;
	ptrdiff_t at = 0;

	for (unsigned i = 0; i < DIE_RANGES_MAX && u->functions.len < FUNCTIONS_MAX; i++) {
		ptrdiff_t next = in->dw->ranges(die, at, &base, &start, &end);

		if (next <= at)
			return;
		if (!at && in->dw->entrypc(die, &entry))
			entry = start;
		at = next;
		if (start < end)
			vec_push(&u->functions, (struct function_range){start, end, entry, *die});
	}
}

static bool holds_functions(int tag, bool all)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust's methods of enums */
	case DW_TAG_interface_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return all;
	default:
		return false;
	}
}

static void walk(struct inlines *in, struct unit *u, Dwarf_Die *die, bool all, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || !inline_child(in, die, &child))
		return;
	do {
		int tag = in->dw->tag(&child);

		if (tag == DW_TAG_subprogram)
			add_function(in, u, &child);
		if (holds_functions(tag, all))
			walk(in, u, &child, all, depth + 1);
	} while (inline_next(in, &child));
}

static int function_cmp(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->die.addr > y->die.addr) - (x->die.addr < y->die.addr);
}

static void read_functions(struct inlines *in, struct unit *u, bool all)
{
	if (all ? u->all_read : u->functions_read)
		return;
	u->functions_read = true;
	u->all_read = all;
	u->functions.len = 0;
	walk(in, u, &u->die, all, 0);
	if (u->functions.len)
		qsort(u->functions.data, u->functions.len, sizeof(*u->functions.data), function_cmp);
}

static const struct function_range *function_in(const struct unit *u, uint64_t vaddr)
{
	size_t lo = 0, hi = u->functions.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->functions.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (unsigned left = BACK_MAX; lo > 0 && left > 0; left--)
		if (vaddr < u->functions.data[--lo].end)
			return &u->functions.data[lo];
	return NULL;
}

/* Functions within functions are rare, and looking for them reads all DIEs. */
const struct function_range *inline_function_at(struct inlines *in, uint32_t unit, uint64_t vaddr)
{
	struct unit *u = &in->units.data[unit];
	const struct function_range *f;

	read_functions(in, u, false);
	f = function_in(u, vaddr);
	if (f || u->all_read)
		return f;
	read_functions(in, u, true);
	return function_in(u, vaddr);
}
