// SPDX-License-Identifier: Apache-2.0
/* inlines.c - functions and lines of addresses. See inlines.h.
 *
 * The ranges of all units are read once, the functions of a unit when one of its addresses is wanted. The tree of a
 * function is walked once for all wanted addresses in it: it has thousands of DIEs (DWARF's nodes), and each address
 * needs a few. A walk goes only forward and has a limit of depth, since DIEs may refer to each other in circles. */
#include "inlines.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/str.h"
#include "base/vec.h"
#include "inline_read.h"
#include "lines.h"
#include "target/dwarf_file.h"
#include "unwinders/idmap.h"

enum { CANDIDATES_MAX = 4, NO_LEVEL = -1, LEVELS_MAX = 1 << 22 };

struct level { /* an inlined function, at some addresses */
	Dwarf_Die die;
	int32_t outer; /* in levels; NO_LEVEL: the function itself */
};

struct wanted { /* an address */
	uint64_t vaddr;
	size_t index;              /* of the caller's list */
	uint32_t unit;
	const struct function_range *function; /* NULL: not found */
	int32_t level;             /* the innermost one */
	struct line_row row;       /* in the table of row_unit */
	uint32_t row_unit;
	bool done;
};

struct find {
	struct inlines *in;
	struct wanted *wanted;
	size_t n;
	VEC(struct level) levels;
	VEC(uint32_t) covered;     /* a stack of lists: numbers of the wanted addresses in the DIEs of the walk */
	struct arena *scratch;
};

/* ---- inlined functions ----------------------------------------------------------- */

/* Appends those of the list, numbers from first to end in covered, that lie in one of the DIE's ranges. Returns
 * whether the DIE has ranges. */
static bool cover(struct find *f, Dwarf_Die *die, size_t first, size_t end)
{
	Dwarf_Addr base, start, stop;
	ptrdiff_t at = 0;
	bool any = false;

	for (unsigned i = 0; i < DIE_RANGES_MAX; i++) {
		ptrdiff_t next = f->in->dw->ranges(die, at, &base, &start, &stop);
		size_t lo = first, hi = end;

		if (next <= at)
			break;
		at = next;
		any = true;
		while (lo < hi) {
			size_t mid = (lo + hi) / 2;

			if (f->wanted[f->covered.data[mid]].vaddr < start)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (; lo < end && f->wanted[f->covered.data[lo]].vaddr < stop; lo++)
			vec_push(&f->covered, f->covered.data[lo]);
	}
	return any;
}

static int number_cmp(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The ranges of a DIE may be in any order, and the addresses in covered are by number, which is by address. */
static void sort_covered(struct find *f, size_t first)
{
	uint32_t *list = f->covered.data + first;
	size_t n = f->covered.len - first;

	for (size_t i = 1; i < n; i++)
		if (list[i] < list[i - 1]) {
			qsort(list, n, sizeof(*list), number_cmp);
			return;
		}
}

static void walk(struct find *f, Dwarf_Die *die, int32_t level, size_t first, size_t end, unsigned depth);

/* The addresses that the DIE covers are in covered from first on. */
static void inlined(struct find *f, Dwarf_Die *die, int32_t outer, size_t first, unsigned depth)
{
	size_t end = f->covered.len;
	int32_t level = (int32_t)f->levels.len;

	if (first == end || f->levels.len >= LEVELS_MAX)
		return;
	vec_push(&f->levels, (struct level){*die, outer});
	for (size_t i = first; i < end; i++)
		f->wanted[f->covered.data[i]].level = level;
	walk(f, die, level, first, end, depth + 1);
}

/* Looks for inlined functions below die, at the addresses first to end of covered. */
static void walk(struct find *f, Dwarf_Die *die, int32_t level, size_t first, size_t end, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || !inline_child(f->in, die, &child))
		return;
	do {
		int tag = f->in->dw->tag(&child);
		size_t mark = f->covered.len;
		bool has_ranges;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
			tag != DW_TAG_catch_block)
			continue;
		has_ranges = cover(f, &child, first, end);
		sort_covered(f, mark);
		if (tag == DW_TAG_inlined_subroutine)
			inlined(f, &child, level, mark, depth);
		else if (!has_ranges)
			walk(f, &child, level, first, end, depth + 1);
		else if (mark < f->covered.len)
			walk(f, &child, level, mark, f->covered.len, depth + 1);
		f->covered.len = mark;
	} while (inline_next(f->in, &child));
}

/* All of the addresses, from first to end of wanted, are in that function. */
static void walk_function(struct find *f, const struct function_range *function, size_t first, size_t end)
{
	Dwarf_Die die = function->die;

	f->covered.len = 0;
	for (size_t i = first; i < end; i++) {
		f->wanted[i].level = NO_LEVEL;
		vec_push(&f->covered, (uint32_t)i);
	}
	walk(f, &die, NO_LEVEL, 0, end - first, 0);
}

/* ---- chains ------------------------------------------------------------------------ */

static void place_call(struct find *f, uint32_t unit, Dwarf_Die *die, struct inline_function *to)
{
	uint64_t file, line = 0, column = 0;

	if (inline_number(f->in, die, DW_AT_call_line, &line) && line)
		to->line = (uint32_t)line;
	if (to->line && inline_number(f->in, die, DW_AT_call_column, &column))
		to->column = (uint32_t)column;
	if (inline_number(f->in, die, DW_AT_call_file, &file) && (file || inline_unit(f->in, unit)->version >= 5))
		to->file = inline_file(f->in, unit, (uint32_t)file, true);
}

static void place_row(struct find *f, uint32_t unit, const struct line_row *row, struct inline_function *to)
{
	to->line = row->line;
	to->column = row->line ? row->column : 0;
	to->file = inline_file(f->in, unit, row->file, false);
}

static bool make_chain(struct find *f, const struct wanted *w, struct inline_chain *c)
{
	Dwarf_Die die;

	c->n = 1;
	c->start = 0;
	c->at[0] = (struct inline_function){};
	if (w->row.found)
		place_row(f, w->row_unit, &w->row, &c->at[0]);
	if (!w->function)
		return c->at[0].line;
	for (int32_t i = w->level; i != NO_LEVEL && c->n < INLINES_MAX; i = f->levels.data[i].outer) {
		die = f->levels.data[i].die;
		c->at[c->n - 1].name = inline_name(f->in, &die);
		c->at[c->n] = (struct inline_function){};
		place_call(f, w->unit, &die, &c->at[c->n++]);
	}
	die = w->function->die;
	c->at[c->n - 1].name = inline_name(f->in, &die);
	c->start = w->function->entry;
	return true;
}

/* ---- units ------------------------------------------------------------------------- */

static void find_rows(struct find *f, const struct unit *u, size_t first, size_t end)
{
	size_t n = end - first;
	uint64_t *vaddrs = arena_new_array(f->scratch, uint64_t, n);
	struct line_row *rows = arena_new_array(f->scratch, struct line_row, n);

	if (!u->has_lines)
		return;
	for (size_t i = 0; i < n; i++)
		vaddrs[i] = f->wanted[first + i].vaddr;
	lines_find(&f->in->sections, u->lines, vaddrs, n, rows);
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].found)
			continue;
		f->wanted[first + i].row = rows[i];
		f->wanted[first + i].row_unit = f->wanted[first + i].unit;
	}
}

/* Answers the addresses of a unit, from first to end of wanted. */
static void find_in_unit(struct find *f, uint32_t unit, size_t first, size_t end)
{
	size_t next;

	for (size_t i = first; i < end; i++)
		f->wanted[i].function = inline_function_at(f->in, unit, f->wanted[i].vaddr);
	f->levels.len = 0;
	for (size_t i = first; i < end; i = next) {
		const struct function_range *function = f->wanted[i].function;

		for (next = i + 1; next < end && f->wanted[next].function &&
				function && f->wanted[next].function->die.addr == function->die.addr;)
			next++;
		if (function)
			walk_function(f, function, i, next);
	}
	find_rows(f, inline_unit(f->in, unit), first, end);
}

static int wanted_cmp(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->vaddr != b->vaddr ? (a->vaddr < b->vaddr ? -1 : 1) : (a->index > b->index) - (a->index < b->index);
}

/* Reports the answers of a unit's addresses. An address without a function may have one in another unit. */
static void report(struct find *f, size_t first, size_t end, inlines_fn *fn, void *arg)
{
	struct inline_chain c;

	for (size_t i = first; i < end; i++) {
		struct wanted *w = &f->wanted[i];

		if (!w->function)
			continue;
		w->done = true;
		if (make_chain(f, w, &c))
			fn(arg, w->index, &c);
	}
}

/* The ranges of several units may cover an address; candidate is the number of the one to try. Returns whether an
 * address has such a unit. */
static bool find_round(struct find *f, unsigned candidate, inlines_fn *fn, void *arg)
{
	bool any = false;
	size_t end;

	for (size_t i = 0; i < f->n; i++)
		f->wanted[i].unit = f->wanted[i].done ? NO_UNIT : inline_unit_at(f->in, f->wanted[i].vaddr, candidate);
	qsort(f->wanted, f->n, sizeof(*f->wanted), wanted_cmp);
	for (size_t i = 0; i < f->n && f->wanted[i].unit != NO_UNIT; i = end) {
		any = true;
		for (end = i + 1; end < f->n && f->wanted[end].unit == f->wanted[i].unit;)
			end++;
		if (inline_is_over(f->in))
			return false;
		find_in_unit(f, f->wanted[i].unit, i, end);
		report(f, i, end, fn, arg);
	}
	return any;
}

/* Reports the lines of addresses without a function, such as assembler's. */
static void report_lines(struct find *f, inlines_fn *fn, void *arg)
{
	struct inline_chain c;

	for (size_t i = 0; i < f->n; i++) {
		struct wanted *w = &f->wanted[i];

		if (!w->done && w->row.found && make_chain(f, w, &c))
			fn(arg, w->index, &c);
	}
}

void inlines_find(struct inlines *l, const uint64_t *vaddrs, size_t n, inlines_fn *fn, void *arg)
{
	struct find f = {.in = l, .n = n, .scratch = arena_new()};
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	f.wanted = calloc(n + 1, sizeof(*f.wanted));
	if (!f.wanted)
		out_of_memory();
	for (size_t i = 0; i < n; i++)
		f.wanted[i] = (struct wanted){.vaddr = vaddrs[i], .index = i};
	inline_begin(l, start);
	for (unsigned i = 0; i < CANDIDATES_MAX && find_round(&f, i, fn, arg); i++)
		;
	report_lines(&f, fn, arg);
	vec_done(&f.levels);
	vec_done(&f.covered);
	free(f.wanted);
	arena_free(f.scratch);
	l->ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

bool inlines_are_cut(const struct inlines *l)
{
	return l->is_cut;
}
