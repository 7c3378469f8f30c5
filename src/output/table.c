// SPDX-License-Identifier: Apache-2.0
/* table.c - see table.h. A heading is the map's name without its unit: @on_cpu_us is "ON CPU ms", since times are
 * printed in milliseconds. */
#include "table.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "output/unit.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/idle.h"
#include "values/own.h"
#include "values/show.h"
#include "values/thread_names.h"

enum { COLUMNS_MAX = 16, GAP = 2 };

struct column {
	const struct map_content *map; /* NULL: the threads' names in their language */
	bool is_stack, is_number, is_hidden;
	enum unit unit;
	struct str head;
	size_t width;
};

struct row {
	const uint8_t *key;
	double first;             /* value of the first column of numbers */
	struct str *cells;        /* keys, then columns */
	bool idle;
};

struct table {
	const struct show *show;
	const struct type *key;
	size_t nkeys, ncolumns;
	struct column keys[COLUMNS_MAX], columns[COLUMNS_MAX + 1];
	struct row *rows;
	size_t n;
};

/* ---- the maps ----------------------------------------------------------------- */

static bool is_row_key(const struct type *t)
{
	return t && !type_has(t, TYPE_STACK) && t->kind == TYPE_TUPLE && !t->tuple.names && t->tuple.n < COLUMNS_MAX;
}

/* Returns whether the key is that of the rows, followed by a stack. */
static bool has_stack_after(const struct type *t, const struct type *rows)
{
	if (!t || t->kind != TYPE_TUPLE || t->tuple.n != rows->tuple.n + 1 ||
		t->tuple.members[rows->tuple.n]->kind != TYPE_STACK)
		return false;
	for (unsigned i = 0; i < rows->tuple.n; i++)
		if (!type_eq(t->tuple.members[i], rows->tuple.members[i]))
			return false;
	return true;
}

static bool is_number(const struct type *t)
{
	return t->kind == TYPE_INT || (t->kind == TYPE_AGG && t->agg.kind <= AGG_MAX);
}

static bool is_cell(const struct type *t)
{
	return is_number(t) || t->kind == TYPE_STRING;
}

bool table_find(const struct image_map *const *maps, size_t n, bool *ret_in)
{
	const struct type *rows = NULL;
	size_t columns = 0;

	for (size_t i = 0; i < n && !rows; i++)
		rows = is_row_key(maps[i]->key) && is_cell(maps[i]->value) ? maps[i]->key : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct type *key = maps[i]->key, *value = maps[i]->value;

		ret_in[i] = rows && key && columns < COLUMNS_MAX &&
			((type_eq(key, rows) && is_cell(value)) || (has_stack_after(key, rows) && is_number(value)));
		columns += ret_in[i];
	}
	return columns > 1;
}

static double number_of(const struct type *t, const uint8_t *value)
{
	int64_t v = t->kind == TYPE_INT ? show_int(t, value) : *(const int64_t *)value;

	return t->is_signed ? (double)v : (double)(uint64_t)v;
}

/* ---- rows ------------------------------------------------------------------------ */

static bool same_key(const struct table *t, const struct type *type, const uint8_t *a, const uint8_t *b)
{
	const struct type *row = t->key;

	for (size_t i = 0; i < t->nkeys; i++)
		if (memcmp(a + row->tuple.offsets[i], b + type->tuple.offsets[i], row->tuple.members[i]->size) != 0)
			return false;
	return true;
}

static void add_row(struct table *t, const uint8_t *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (same_key(t, t->key, t->rows[i].key, key))
			return;
	t->rows = reallocarray(t->rows, t->n + 1, sizeof(*t->rows));
	if (!t->rows)
		out_of_memory();
	t->rows[t->n] = (struct row){.key = key, .cells = calloc(t->nkeys + t->ncolumns + 1, sizeof(struct str))};
	if (!t->rows[t->n].cells)
		out_of_memory();
	t->n++;
}

static void add_rows(struct table *t)
{
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct map_content *m = t->columns[c].map;

		for (size_t i = 0; m && i < m->n && !t->columns[c].is_stack; i++)
			add_row(t, m->list[i].key);
	}
}

/* Fills in the function in which most of the value is, and whether nearly all of it is in idle stacks. */
static void fill_function(const struct table *t, const struct column *c, struct row *r, struct str *cell)
{
	const struct type *key = c->map->map->key, *stack = key->tuple.members[t->nkeys];
	uint32_t at = key->tuple.offsets[t->nkeys];
	const struct map_entry *most = NULL;
	double sum = 0, idle = 0, value, best = -1;
	struct frame_list l;

	for (size_t i = 0; i < c->map->n; i++) {
		const struct map_entry *e = &c->map->list[i];

		if (!same_key(t, key, r->key, e->key))
			continue;
		value = number_of(c->map->map->value, e->value);
		sum += value;
		idle += idle_stack(t->show, (uint64_t)show_int(stack, e->key + at)) ? value : 0;
		if (value > best) {
			best = value;
			most = e;
		}
	}
	if (!most)
		return;
	r->idle = sum > 0 && idle >= 0.99 * sum;
	frames_of_entry(t->show, stack, most, at, &l);
	if (own_frame(&l))
		show_function(own_frame(&l), cell);
	frames_done(&l);
}

static void add_number(const struct column *c, double value, struct str *cell)
{
	if (c->unit == UNIT_NS)
		str_addf(cell, "%.1f", value / 1e6);
	else if (c->unit == UNIT_US)
		str_addf(cell, "%.1f", value / 1e3);
	else
		str_addf(cell, "%.0f", value);
}

static void fill_cell(const struct table *t, const struct column *c, struct row *r, struct str *cell)
{
	const struct type *type = c->map->map->value;

	if (c->is_stack) {
		fill_function(t, c, r, cell);
		return;
	}
	for (size_t i = 0; i < c->map->n; i++) {
		const struct map_entry *e = &c->map->list[i];

		if (!same_key(t, t->key, r->key, e->key))
			continue;
		if (c->is_number)
			add_number(c, number_of(type, e->value), cell);
		else
			show_value(t->show, type, e->value, cell);
		return;
	}
	str_add(cell, c->is_number ? "0" : "-");
}

static void fill(struct table *t, struct row *r)
{
	bool has_first = false;

	for (size_t i = 0; i < t->nkeys; i++)
		show_value(t->show, t->key->tuple.members[i], r->key + t->key->tuple.offsets[i], &r->cells[i]);
	for (size_t i = 0; i < t->ncolumns; i++) {
		struct str *cell = &r->cells[t->nkeys + i];

		fill_cell(t, &t->columns[i], r, cell);
		if (t->columns[i].is_number && !has_first)
			r->first = strtod(str_text(cell), NULL);
		has_first |= t->columns[i].is_number;
	}
}

/* Returns the number of the key that has thread IDs, or -1. */
static int tid_key(const struct table *t)
{
	for (size_t i = 0; i < t->nkeys; i++)
		if (t->keys[i].is_number && !strcmp(str_text(&t->keys[i].head), "TID"))
			return (int)i;
	return -1;
}

/* Adds a column with the threads' names in their languages, if some have one that is not the kernel's. */
static void add_names(struct table *t)
{
	struct thread_names *names = tid_key(t) >= 0 ? thread_names_new(t->show) : NULL;
	bool any = false;

	for (size_t i = 0; names && i < t->n; i++) {
		struct row *r = &t->rows[i];
		const char *name = thread_names_get(names, atoi(str_text(&r->cells[tid_key(t)])));

		memmove(&r->cells[t->nkeys + 1], &r->cells[t->nkeys], t->ncolumns * sizeof(*r->cells));
		r->cells[t->nkeys] = (struct str){};
		str_add_safe(&r->cells[t->nkeys], name ? name : "-", name ? strlen(name) : 1);
		any |= name != NULL;
	}
	thread_names_free(names);
	if (names) {
		memmove(&t->columns[1], &t->columns[0], t->ncolumns * sizeof(*t->columns));
		t->ncolumns++;
		t->columns[0] = (struct column){.is_hidden = !any};
		str_add(&t->columns[0].head, "NAME");
	}
}

/* ---- printing ------------------------------------------------------------------------ */

static void add_heading(struct str *head, const char *name, enum unit unit)
{
	const char *last = unit == UNIT_NONE ? NULL : strrchr(name, '_');
	size_t n = last ? (size_t)(last - name) : strlen(name);

	for (size_t i = 0; i < n; i++)
		str_addc(head, name[i] == '_' ? ' ' : (char)toupper((unsigned char)name[i]));
	if (unit != UNIT_NONE)
		str_add(head, unit == UNIT_BYTES ? " bytes" : unit == UNIT_S ? " s" : " ms");
}

/* Names the columns of the key by the script's text: "comm, tid". */
static void head_keys(struct table *t, const char *text)
{
	for (size_t i = 0; i < t->nkeys; i++) {
		size_t n;

		text += text ? strspn(text, " ,$") : 0;
		n = text ? strcspn(text, ",") : 0;
		for (size_t k = 0; k < n; k++)
			str_addc(&t->keys[i].head, (char)toupper((unsigned char)text[k]));
		text += n;
		t->keys[i].is_number = t->key->tuple.members[i]->kind == TYPE_INT;
	}
}

static size_t columns_of(const struct str *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += (text->data[i] & 0xc0) != 0x80;
	return n;
}

static void widen(struct column *c, const struct str *cell)
{
	size_t n = columns_of(cell);

	c->width = n > c->width ? n : c->width;
}

static struct column *column(struct table *t, size_t i)
{
	return i < t->nkeys ? &t->keys[i] : &t->columns[i - t->nkeys];
}

static void print_cell(const struct column *c, const struct str *cell, bool last, FILE *out)
{
	int pad = (int)(c->width - columns_of(cell));

	if (c->is_hidden)
		return;
	fprintf(out, "%*s%s%*s", c->is_number ? pad : 0, "", str_text(cell), c->is_number || last ? 0 : pad, "");
	fprintf(out, last ? "\n" : "%*s", GAP, "");
}

static void print(struct table *t, FILE *out)
{
	size_t n = t->nkeys + t->ncolumns;

	for (size_t k = 0; k < n; k++) {
		widen(column(t, k), &column(t, k)->head);
		for (size_t i = 0; i < t->n; i++)
			widen(column(t, k), &t->rows[i].cells[k]);
	}
	for (size_t k = 0; k < n; k++)
		print_cell(column(t, k), &column(t, k)->head, k == n - 1, out);
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < n; k++)
			print_cell(column(t, k), &t->rows[i].cells[k], k == n - 1, out);
}

static int by_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	return (a->first < b->first) - (a->first > b->first);
}

static void free_row(const struct table *t, struct row *r)
{
	for (size_t i = 0; i < t->nkeys + t->ncolumns; i++)
		str_done(&r->cells[i]);
	free(r->cells);
}

/* If all rows are idle, they stay. */
static size_t leave_out_idle(struct table *t)
{
	size_t nidle = 0, n = 0;

	for (size_t i = 0; i < t->n; i++)
		nidle += t->rows[i].idle;
	if (!t->show->skips_idle || nidle == t->n)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].idle)
			free_row(t, &t->rows[i]);
		else
			t->rows[n++] = t->rows[i];
	t->n = n;
	return nidle;
}

static void set_up(struct table *t, const struct map_content *maps, size_t n)
{
	const char *key_text = NULL;

	for (size_t i = 0; i < n && !t->key; i++)
		if (is_row_key(maps[i].map->key)) {
			t->key = maps[i].map->key;
			key_text = maps[i].map->key_text;
		}
	t->nkeys = t->key->tuple.n;
	for (size_t i = 0; i < n && i < COLUMNS_MAX; i++) {
		struct column *c = &t->columns[t->ncolumns++];

		c->map = &maps[i];
		c->is_stack = type_has(maps[i].map->key, TYPE_STACK);
		c->is_number = !c->is_stack && is_number(maps[i].map->value);
		c->unit = c->is_number ? unit_of(maps[i].map->name) : UNIT_NONE;
		add_heading(&c->head, maps[i].map->name, c->unit);
	}
	head_keys(t, key_text);
}

size_t table_print(const struct show *s, const struct map_content *maps, size_t n, FILE *out)
{
	struct table t = {.show = s};
	size_t nidle;

	set_up(&t, maps, n);
	add_rows(&t);
	for (size_t i = 0; i < t.n; i++)
		fill(&t, &t.rows[i]);
	nidle = leave_out_idle(&t);
	add_names(&t);
	if (t.n) {
		qsort(t.rows, t.n, sizeof(*t.rows), by_first);
		print(&t, out);
	}
	for (size_t i = 0; i < t.n; i++)
		free_row(&t, &t.rows[i]);
	for (size_t i = 0; i < t.nkeys + t.ncolumns; i++)
		str_done(&column(&t, i)->head);
	free(t.rows);
	return nidle;
}
