// SPDX-License-Identifier: Apache-2.0
/* inline_units.c - the units and functions of a file's debug information, by address. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "inline_read.h"
#include "target/fde.h"

#define UNIT_RANGES_MAX (1 << 24)
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

/* Opens the other part of a split unit. */
static void open_split(struct inlines *in, struct unit *u)
{
	Dwarf_Die split;

	if (!u->is_skeleton || u->is_split)
		return;
	u->is_split = dwarf_file_split(in->file, &u->head, &split);
	in->is_partial |= !u->is_split;
	if (u->is_split)
		u->die = split;
}

/* The DIE of a unit is only read when it is needed: libdw takes 50 us and 10 KB for the first DIE of a unit. */
const struct unit *inline_unit(struct inlines *in, uint32_t unit)
{
	struct unit *u = &in->units.data[unit];

	if (!u->head_read) {
		u->head_read = true;
		u->has_lines = inline_number(in, &u->head, DW_AT_stmt_list, &u->lines);
		u->comp_dir = text_of(in, &u->head, DW_AT_comp_dir);
	}
	return u;
}

/* ---- .debug_aranges: the ranges of units, without their DIEs ----------------------------- */

enum { ARANGES_HEAD = 32 }; /* most bytes between the start of a unit and its first DIE */

/* Returns the unit that begins at an offset of .debug_info, or NO_UNIT. */
static uint32_t unit_from(const struct inlines *in, uint64_t offset)
{
	size_t lo = 0, hi = in->units.len;

	while (lo < hi) { /* find the first DIE above the offset */
		size_t mid = (lo + hi) / 2;

		if (in->dw->dieoffset(&in->units.data[mid].head) <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < in->units.len && in->dw->dieoffset(&in->units.data[lo].head) - offset <= ARANGES_HEAD ?
		(uint32_t)lo : NO_UNIT;
}

/* The pairs of a set begin at a multiple of their size from its start. */
static void read_pairs(struct inlines *in, struct reader *set, uint32_t unit)
{
	uint64_t start, size;

	while (set->end - set->p >= 16 && in->ranges.len < UNIT_RANGES_MAX) {
		start = read_uint(set, 8);
		size = read_uint(set, 8);
		if (!start && !size)
			return;
		if (start < start + size) {
			vec_push(&in->ranges, (struct unit_range){start, start + size, unit});
			in->units.data[unit].has_ranges = true;
		}
	}
}

static void read_set(struct inlines *in, struct reader *r)
{
	const uint8_t *begins = r->p;
	uint64_t length = read_uint(r, 4), offset;
	size_t word = length == UINT32_MAX ? 8 : 4;
	struct reader set = read_block(r, word == 8 ? read_uint(r, 8) : length);
	uint32_t unit;

	if (read_uint(&set, 2) != 2)
		return;
	offset = read_uint(&set, word);
	if (read_uint(&set, 1) != 8 || read_uint(&set, 1)) /* bytes of an address, of a segment */
		return;
	read_skip(&set, (16 - (uint64_t)(set.p - begins) % 16) % 16);
	unit = set.bad ? NO_UNIT : unit_from(in, offset);
	if (unit != NO_UNIT)
		read_pairs(in, &set, unit);
}

static void read_aranges(struct inlines *in)
{
	struct elf_section s;
	struct reader r;

	if (!elf_section(in->file->elf, ".debug_aranges", &s) || !s.data)
		return;
	r = (struct reader){.p = s.data, .end = s.data + s.size};
	while (r.p < r.end && !r.bad)
		read_set(in, &r);
}

static int range_cmp(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->unit > y->unit) - (x->unit < y->unit);
}

/* Reads the ranges of units by their DIEs. all: also of those that .debug_aranges has. */
static void read_ranges(struct inlines *in, bool all)
{
	for (uint32_t i = 0; i < in->units.len && !inline_is_over(in); i++)
		if (in->units.data[i].has_ranges == all)
			add_unit_ranges(in, &in->units.data[i].head, i);
	if (in->ranges.len)
		qsort(in->ranges.data, in->ranges.len, sizeof(*in->ranges.data), range_cmp);
	in->ranges_read = all;
}

static void read_units(struct inlines *in)
{
	Dwarf_Die die;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t kind;

	in->units_read = true;
	while (in->units.len < UNITS_MAX && !inline_is_over(in) &&
		!in->dw->get_units(in->file->dwarf, cu, &cu, &version, &kind, &die, NULL)) {
		in->has_parts |= kind == DW_UT_skeleton;
		if (kind == DW_UT_compile || kind == DW_UT_skeleton)
			vec_push(&in->units, (struct unit){.die = die, .head = die, .version = version,
				.is_skeleton = kind == DW_UT_skeleton});
	}
	read_aranges(in);
	read_ranges(in, false);
}

/* Ranges of code that the linker dropped begin at 0 and may cover anything. */
static uint32_t unit_at(const struct inlines *in, uint64_t vaddr, unsigned candidate)
{
	size_t lo = 0, hi;
	uint32_t last = NO_UNIT;

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

/* .debug_aranges may lack ranges. */
uint32_t inline_unit_at(struct inlines *in, uint64_t vaddr, unsigned candidate)
{
	uint32_t unit;

	if (!in->units_read)
		read_units(in);
	unit = unit_at(in, vaddr, candidate);
	if (unit != NO_UNIT || candidate || in->ranges_read)
		return unit;
	read_ranges(in, true);
	return unit_at(in, vaddr, candidate);
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
	open_split(in, u);
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
