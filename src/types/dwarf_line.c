// SPDX-License-Identifier: Apache-2.0
/* dwarf_line.c - finds the code of a line of a source file. */
#include "dwarf_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { LINE_ROWS_MAX = 1 << 24, LINE_FOUND_MAX = 1 << 16 };

/* "a.c" and "x/a.c" match /home/x/a.c. */
static bool is_file(const char *path, const char *name)
{
	size_t n = strlen(name), len = path ? strlen(path) : 0;

	return len >= n && !strcmp(path + len - n, name) && (len == n || *name == '/' || path[len - n - 1] == '/');
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct search {
	const char *file;
	unsigned line, column;
	VEC(uint64_t) found;
	unsigned rows; /* number of rows read */
	struct source_line *ret;
};

/* Notes the next line that has code. */
static void note_line(struct search *s, unsigned line)
{
	s->ret->file_known = true;
	if (line > s->line && (!s->ret->next_line || line < s->ret->next_line))
		s->ret->next_line = line;
}

static bool read_row(const struct debuginfo *d, struct search *s, Dwarf_Line *row)
{
	int line = 0, column = 0;
	bool end = false;
	Dwarf_Addr at;

	if (d->dw->lineendsequence(row, &end) || end || d->dw->lineno(row, &line) || line <= 0 ||
		!is_file(d->dw->linesrc(row, NULL, NULL), s->file))
		return true;
	note_line(s, (unsigned)line);
	if ((unsigned)line != s->line || d->dw->lineaddr(row, &at))
		return true;
	if (s->column && (d->dw->linecol(row, &column) || (unsigned)column != s->column)) {
		s->ret->line_known = true;
		return true;
	}
	vec_push(&s->found, at);
	return s->found.len < LINE_FOUND_MAX;
}

static bool read_unit(const struct debuginfo *d, struct search *s, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (d->dw->getsrclines(unit, &lines, &n))
		return true;
	for (size_t i = 0; i < n; i++)
		if (s->rows++ >= LINE_ROWS_MAX || !read_row(d, s, d->dw->onesrcline(lines, i)))
			return false;
	return true;
}

/* Reads units of that name first: code of a .c file is seldom in other units, but code of a header often
 * is. */
static void read_units(struct debuginfo *d, struct search *s)
{
	bool named = false;

	units_read(d);
	for (size_t i = 0; i < d->units.len; i++) {
		const char *name = die_name(d, &d->units.data[i].die);

		if (!name || strcmp(base_of(name), base_of(s->file)) != 0)
			continue;
		if (!read_unit(d, s, &d->units.data[i].die))
			return;
		named |= s->ret->file_known;
	}
	for (size_t i = 0; i < d->units.len && !named; i++)
		if (!read_unit(d, s, &d->units.data[i].die))
			return;
}

static int address_cmp(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

void debuginfo_line(struct debuginfo *d, const char *file, unsigned line, unsigned column,
	struct source_line *ret)
{
	struct search s = {.file = file, .line = line, .column = column, .ret = ret};
	uint64_t *list;

	*ret = (struct source_line){};
	read_units(d, &s);
	if (s.found.len)
		qsort(s.found.data, s.found.len, sizeof(*s.found.data), address_cmp);
	list = arena_new_array(d->arena, uint64_t, s.found.len + 1);
	for (size_t i = 0; i < s.found.len; i++)
		if (!ret->n || list[ret->n - 1] != s.found.data[i])
			list[ret->n++] = s.found.data[i];
	ret->addresses = list;
	vec_done(&s.found);
}
