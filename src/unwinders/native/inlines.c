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
	bool is_known;             /* in in->known */
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

static bool may_hold_inlined(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		tag == DW_TAG_catch_block;
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

		if (!may_hold_inlined(tag))
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
	size_t n = 0;
	uint64_t *vaddrs = arena_new_array(f->scratch, uint64_t, end - first + 1);
	struct line_row *rows = arena_new_array(f->scratch, struct line_row, end - first + 1);

	for (size_t i = first; i < end; i++)
		if (!f->wanted[i].is_known)
			vaddrs[n++] = f->wanted[i].vaddr;
	if (!u->has_lines || !n)
		return;
	lines_find(&f->in->sections, u->lines, vaddrs, n, rows);
	n = 0;
	for (size_t i = first; i < end; i++) {
		struct wanted *w = &f->wanted[i];

		if (w->is_known || !rows[n++].found)
			continue;
		w->row = rows[n - 1];
		w->row_unit = w->unit;
	}
}

/* Looks for the inlined functions at addresses of a unit, from first to end of wanted. */
static void walk_functions(struct find *f, size_t first, size_t end)
{
	size_t next;

	f->levels.len = 0;
	for (size_t i = first; i < end; i = next) {
		const struct function_range *function = f->wanted[i].function;
		bool is_known = f->wanted[i].is_known;

		for (next = i + 1; next < end && f->wanted[next].function && f->wanted[next].is_known == is_known &&
				function && f->wanted[next].function->die.addr == function->die.addr;)
			next++;
		if (function && !is_known)
			walk_function(f, function, i, next);
	}
}

/* ---- whole functions --------------------------------------------------------------- */

/* Another run asks for other addresses of the same functions, so whole functions are kept: each address at which the
 * line or the innermost inlined function may change. */

enum { WHOLE_PARTS_MAX = 1 << 18, WHOLE_LEVELS_MAX = 1 << 17 };
#define WHOLE_NS 200000000ull /* CPU time for a file; then only addresses are kept */

/* Adds the edges of the ranges below die. */
static void add_edges(struct find *f, Dwarf_Die *die, const struct function_range *r, struct line_addresses *out,
	unsigned depth)
{
	Dwarf_Addr base, start, end;
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || !inline_child(f->in, die, &child))
		return;
	do {
		ptrdiff_t at = 0, next;

		if (!may_hold_inlined(f->in->dw->tag(&child)))
			continue;
		for (unsigned i = 0; i < DIE_RANGES_MAX && out->list.len < WHOLE_PARTS_MAX; i++, at = next) {
			next = f->in->dw->ranges(&child, at, &base, &start, &end);
			if (next <= at)
				break;
			if (start > r->start && start < r->end)
				vec_push(&out->list, start);
			if (end > r->start && end < r->end)
				vec_push(&out->list, end);
		}
		add_edges(f, &child, r, out, depth + 1);
	} while (inline_next(f->in, &child));
}

static int vaddr_cmp(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Lists the functions of the addresses from first to end. One that overlaps with others is left out. */
static size_t list_whole(struct find *f, size_t first, size_t end, const struct function_range **ret)
{
	const struct unit *u = inline_unit(f->in, f->wanted[first].unit);
	uint64_t below = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++) {
		const struct function_range *r = f->wanted[i].function;

		if (!r || r->start < below)
			continue;
		below = r->end;
		if (r + 1 == u->functions.data + u->functions.len || r[1].start >= r->end)
			ret[n++] = r;
	}
	return n;
}

/* Makes addresses of the functions: wanted of whole. */
static void want_parts(struct find *whole, uint32_t unit, const struct function_range **list, size_t n)
{
	const struct unit *u = inline_unit(whole->in, unit);
	struct line_range *ranges = arena_new_array(whole->scratch, struct line_range, n);
	struct line_addresses at = {};
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		Dwarf_Die die = list[i]->die;

		ranges[i] = (struct line_range){list[i]->start, list[i]->end};
		vec_push(&at.list, list[i]->start);
		add_edges(whole, &die, list[i], &at, 0);
	}
	if (u->has_lines)
		lines_rows(&whole->in->sections, u->lines, ranges, n, WHOLE_PARTS_MAX, &at);
	if (at.list.len < WHOLE_PARTS_MAX)
		qsort(at.list.data, at.list.len, sizeof(*at.list.data), vaddr_cmp);
	else
		at.list.len = 0;
	whole->wanted = arena_new_array(whole->scratch, struct wanted, at.list.len + 1);
	for (size_t i = 0; i < at.list.len; i++) {
		if (i && at.list.data[i] == at.list.data[i - 1])
			continue;
		while (k < n && at.list.data[i] >= list[k]->end)
			k++;
		whole->wanted[whole->n++] = (struct wanted){.vaddr = at.list.data[i], .unit = unit,
			.function = k < n ? list[k] : NULL};
	}
	vec_done(&at.list);
}

static bool is_same_part(const struct wanted *a, const struct wanted *b)
{
	return a->level == b->level && a->row.found == b->row.found && a->row.file == b->row.file &&
		a->row.line == b->row.line && a->row.column == b->row.column;
}

/* Keeps a function: the addresses from first to end, and the levels that they have. */
static void keep_function(struct find *whole, size_t first, size_t end, uint32_t *numbers)
{
	const struct function_range *r = whole->wanted[first].function;
	struct chains *known = whole->in->known;
	int32_t low = INT32_MAX, high = NO_LEVEL;
	Dwarf_Die die = r->die;
	size_t parts = 0;

	for (size_t i = first; i < end; i++) {
		const struct wanted *w = &whole->wanted[i];

		parts += i == first || !is_same_part(w - 1, w);
		high = w->level > high ? w->level : high;
		for (int32_t k = w->level; k != NO_LEVEL && k < low; k = whole->levels.data[k].outer)
			low = k;
	}
	if (!chains_begin(known, r->start, r->end, r->entry, inline_name(whole->in, &die), parts))
		return;
	for (int32_t i = low; i <= high; i++) {
		const struct level *l = &whole->levels.data[i];
		struct inline_function at = {};

		die = l->die;
		place_call(whole, whole->wanted[first].unit, &die, &at);
		at.name = inline_name(whole->in, &die);
		numbers[i] = chains_level(known, &at, l->outer == NO_LEVEL ? 0 : numbers[l->outer]);
	}
	for (size_t i = first; i < end; i++) {
		const struct wanted *w = &whole->wanted[i];
		struct inline_function at = {};

		if (i > first && is_same_part(w - 1, w))
			continue;
		if (w->row.found)
			place_row(whole, w->row_unit, &w->row, &at);
		chains_part(known, w->vaddr - r->start, w->level == NO_LEVEL ? 0 : numbers[w->level], &at);
	}
}

static void keep_whole(struct find *whole, uint32_t unit)
{
	uint32_t *numbers;
	size_t end;

	walk_functions(whole, 0, whole->n);
	find_rows(whole, inline_unit(whole->in, unit), 0, whole->n);
	if (whole->levels.len > WHOLE_LEVELS_MAX || inline_is_over(whole->in))
		return;
	numbers = arena_new_array(whole->scratch, uint32_t, whole->levels.len + 1);
	for (size_t i = 0; i < whole->n; i = end) {
		for (end = i + 1; end < whole->n && whole->wanted[end].function == whole->wanted[i].function;)
			end++;
		if (whole->wanted[i].function && whole->wanted[i].vaddr == whole->wanted[i].function->start)
			keep_function(whole, i, end, numbers);
	}
}

/* Keeps the functions at the addresses of a unit, from first to end of wanted. */
static void keep_functions(struct find *f, uint32_t unit, size_t first, size_t end)
{
	struct find whole = {.in = f->in, .scratch = arena_new()};
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct function_range **list = arena_new_array(whole.scratch, const struct function_range *, end - first);
	size_t n = list_whole(f, first, end, list);
	struct inline_chain c;

	if (n && f->in->whole_ns < WHOLE_NS) {
		want_parts(&whole, unit, list, n);
		keep_whole(&whole, unit);
		for (size_t i = first; i < end; i++)
			f->wanted[i].is_known = f->wanted[i].function &&
				chains_find(f->in->known, f->wanted[i].vaddr, &c);
	}
	vec_done(&whole.levels);
	vec_done(&whole.covered);
	arena_free(whole.scratch);
	f->in->whole_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* ---- answers ----------------------------------------------------------------------- */

/* Answers the addresses of a unit, from first to end of wanted. A function is looked for twice, because the first look
 * may move the list of functions. */
static void find_in_unit(struct find *f, uint32_t unit, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		inline_function_at(f->in, unit, f->wanted[i].vaddr);
	for (size_t i = first; i < end; i++)
		f->wanted[i].function = inline_function_at(f->in, unit, f->wanted[i].vaddr);
	keep_functions(f, unit, first, end);
	walk_functions(f, first, end);
	find_rows(f, inline_unit(f->in, unit), first, end);
}

static int wanted_cmp(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->vaddr != b->vaddr ? (a->vaddr < b->vaddr ? -1 : 1) : (a->index > b->index) - (a->index < b->index);
}

static void report_one(struct find *f, struct wanted *w, inlines_fn *fn, void *arg)
{
	struct inline_chain c;

	w->done = true;
	if (!w->is_known) {
		c.n = make_chain(f, w, &c) ? c.n : 0;
		if (!f->in->is_over)
			chains_add(f->in->known, w->vaddr, &c);
	} else if (!chains_find(f->in->known, w->vaddr, &c)) {
		return;
	}
	if (c.n)
		fn(arg, w->index, &c);
}

/* Reports the answers of a unit's addresses. An address without a function may have one in another unit. */
static void report(struct find *f, size_t first, size_t end, inlines_fn *fn, void *arg)
{
	for (size_t i = first; i < end; i++)
		if (f->wanted[i].function)
			report_one(f, &f->wanted[i], fn, arg);
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
	for (size_t i = 0; i < f->n; i++)
		if (!f->wanted[i].done)
			report_one(f, &f->wanted[i], fn, arg);
}

/* Answers the known addresses, and returns the number of the others, which become wanted. */
static size_t answer_known(struct find *f, const uint64_t *vaddrs, size_t n, inlines_fn *fn, void *arg)
{
	struct inline_chain c;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (!chains_find(f->in->known, vaddrs[i], &c))
			f->wanted[left++] = (struct wanted){.vaddr = vaddrs[i], .index = i};
		else if (c.n)
			fn(arg, i, &c);
	}
	return left;
}

void inlines_find(struct inlines *l, const uint64_t *vaddrs, size_t n, inlines_fn *fn, void *arg)
{
	struct find f = {.in = l, .scratch = arena_new()};
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	f.wanted = calloc(n + 1, sizeof(*f.wanted));
	if (!f.wanted)
		out_of_memory();
	f.n = answer_known(&f, vaddrs, n, fn, arg);
	if (f.n && !inline_opened(l)) {
		inline_begin(l, start);
		for (unsigned i = 0; i < CANDIDATES_MAX && find_round(&f, i, fn, arg); i++)
			;
		report_lines(&f, fn, arg);
	}
	vec_done(&f.levels);
	vec_done(&f.covered);
	free(f.wanted);
	arena_free(f.scratch);
	l->ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

bool inlines_are_read(const struct inlines *l)
{
	return l->opened != 1;
}

bool inlines_are_cut(const struct inlines *l)
{
	return l->is_cut;
}
