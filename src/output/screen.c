// SPDX-License-Identifier: Apache-2.0
/* screen.c - maps as lines of a terminal. */
#include "screen.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/owner.h"
#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "stack_tree.h"
#include "text.h"
#include "values/entries.h"
#include "values/own.h"
#include "values/show.h"

enum { BAR = 20, NARROW = 20 /* a branch with less than this part is folded at first */ };

void screen_done(struct screen *s)
{
	vec_done(&s->toggled);
}

/* ---- lines --------------------------------------------------------------- */

void screen_add_cut(struct str *out, const char *text, unsigned width)
{
	mbstate_t state = {};
	const char *end = text + strlen(text);

	for (wchar_t c; text < end && width;) {
		size_t n = mbrtowc(&c, text, (size_t)(end - text), &state);
		int columns = n && n <= 4 ? wcwidth(c) : -1;

		if (columns < 0) {
			str_addc(out, *text == '\n' ? ' ' : *text < ' ' ? ' ' : '?');
			n = 1;
			columns = 1;
			memset(&state, 0, sizeof(state));
		} else if ((unsigned)columns <= width) {
			str_addn(out, text, n);
		} else {
			return;
		}
		width -= (unsigned)columns;
		text += n;
	}
}

/* Appends a bar for a part of the whole, in eighths of a column. */
static void add_bar(struct str *out, double part)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned n = part <= 0 ? 0 : part >= 1 ? BAR * 8 : (unsigned)(part * BAR * 8 + 0.5), used = (n + 7) / 8;

	for (unsigned i = 0; i < n / 8; i++)
		str_add(out, "█");
	str_add(out, eighths[n % 8]);
	for (; used < BAR; used++)
		str_addc(out, ' ');
}

/* Appends whole lines of text: the last ones, if there are too many. */
static void add_text(struct screen *s, char *text, struct str *out)
{
	size_t lines = 0, skipped;

	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	skipped = lines > s->rows ? lines - s->rows : 0;
	for (char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		bool more = line[n];

		line[n] = 0;
		if (skipped) {
			skipped--;
		} else {
			screen_add_cut(out, line, s->columns);
			str_addc(out, '\n');
		}
		line += n + more;
	}
}

/* Appends the text that is printed without a screen. */
static void add_printed(struct screen *s, const struct show *show, const struct map_content *c, struct str *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		text_map(show, c, false, f);
		fclose(f);
		add_text(s, text, out);
	}
	free(text);
}

/* ---- numbers ------------------------------------------------------------- */

static double number_of(const struct type *t, const uint8_t *value)
{
	uint64_t v;
	bool positive = recording_weight_of(t, value, &v);

	return positive ? (double)v : (double)(int64_t)v;
}

static bool is_numbers(const struct image_map *m)
{
	return m->key && (m->value->kind == TYPE_INT || (m->value->kind == TYPE_AGG && m->value->agg.kind <= AGG_MAX));
}

struct line { /* a line of a map of numbers */
	struct str key;
	double value;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(str_text(&((const struct line *)a)->key), str_text(&((const struct line *)b)->key));
}

static bool is_wanted(const struct screen *s, const char *name)
{
	return !s->filter || strcasestr(name, s->filter);
}

static void add_number(const struct screen *s, const struct line *l, double most, struct str *out)
{
	str_addf(out, "%14.0f ", l->value);
	add_bar(out, most > 0 ? l->value / most : 0);
	str_addc(out, ' ');
	screen_add_cut(out, str_text(&l->key), s->columns > BAR + 17 ? s->columns - BAR - 17 : 10);
	str_addc(out, '\n');
}

/* Appends "value |bar| key", the largest first. */
static void add_numbers(struct screen *s, const struct show *show, const struct map_content *c, struct str *out)
{
	double most = c->n ? number_of(c->map->value, c->list[c->n - 1].value) : 0;
	struct line *lines = calloc(c->n + 1, sizeof(*lines));
	size_t n = 0;

	for (size_t k = c->n; lines && k-- > 0 && (s->by_name || n < s->rows);) {
		show_value(show, c->map->key, c->list[k].key, &lines[n].key);
		lines[n].value = number_of(c->map->value, c->list[k].value);
		if (is_wanted(s, str_text(&lines[n].key)))
			n++;
		else
			str_clear(&lines[n].key);
	}
	if (s->by_name)
		qsort(lines, n, sizeof(*lines), by_key);
	for (size_t k = 0; k < n && k < s->rows; k++)
		add_number(s, &lines[k], most, out);
	for (size_t k = 0; lines && k <= c->n; k++)
		str_done(&lines[k].key);
	free(lines);
}

/* ---- stacks -------------------------------------------------------------- */

static uint64_t branch_id(uint64_t parent, const struct profile_node *n)
{
	uint64_t h = (parent ^ (uint64_t)n->kind) * 0x100000001b3 + 0xcbf29ce484222325;

	for (const char *p = n->name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3;
	return h;
}

static size_t find_toggled(const struct screen *s, uint64_t id)
{
	size_t i = 0;

	while (i < s->toggled.len && s->toggled.data[i] != id)
		i++;
	return i;
}

void screen_toggle(struct screen *s)
{
	size_t i = find_toggled(s, s->under_cursor);

	if (i < s->toggled.len)
		s->toggled.data[i] = s->toggled.data[--s->toggled.len];
	else
		vec_push(&s->toggled, s->under_cursor);
}

/* The lines of a tree around the cursor, which are on the screen. */
struct tree {
	struct screen *screen;
	uint64_t whole;
	size_t first; /* number of its first line on the screen */
	struct str *out;
};

/* Appends "function /directory/file"; if that is too long, "function …/file". */
static void add_name(struct str *out, const char *name, unsigned width)
{
	const char *path = strrchr(name, ' '), *file = path ? strrchr(path, '/') : NULL;

	if (strlen(name) > width && file && file > path + 1) {
		struct str text = {};

		str_addf(&text, "%.*s …%s", (int)(path - name), name, file);
		screen_add_cut(out, str_text(&text), width);
		str_done(&text);
	} else {
		screen_add_cut(out, name, width);
	}
}

static void add_branch_line(struct tree *t, const struct profile_node *n, const char *name, unsigned depth, char mark)
{
	struct screen *s = t->screen;
	bool at = s->has_keys && s->lines == s->cursor;
	unsigned used = 12 + BAR + 2 * (depth < 20 ? depth : 20);

	str_addf(t->out, "%s%6.1f %% ", at ? "\033[7m" : "", 100.0 * (double)n->total / (double)t->whole);
	add_bar(t->out, (double)n->total / (double)t->whole);
	str_addf(t->out, " %*s%c ", 2 * (int)(depth < 20 ? depth : 20), "", mark);
	add_name(t->out, name, s->columns > used + 10 ? s->columns - used : 10);
	str_addf(t->out, "%s\n", at ? "\033[0m" : "");
}

/* Returns whether it, or a branch below it, matches the filter. */
static bool has_wanted(const struct screen *s, const struct profile_node *n)
{
	if (is_wanted(s, n->name))
		return true;
	for (const struct profile_node *c = n->children; c; c = c->next)
		if (has_wanted(s, c))
			return true;
	return false;
}

static int node_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct profile_node *const *)a)->name, (*(const struct profile_node *const *)b)->name);
}

static void add_branch(struct tree *t, const struct profile_node *n, uint64_t id, unsigned depth, bool all);

/* `all` says that the filter matched a branch above. */
static void add_children(struct tree *t, const struct profile_node *n, uint64_t id, unsigned depth, bool all)
{
	_cleanup_(freep) const struct profile_node **list = calloc(n->nchildren + 1, sizeof(*list));
	size_t len = 0;

	for (const struct profile_node *c = n->children; list && c && len < n->nchildren; c = c->next)
		if (all || has_wanted(t->screen, c))
			list[len++] = c;
	if (len && t->screen->by_name)
		qsort(list, len, sizeof(*list), node_by_name);
	for (size_t i = 0; i < len; i++)
		add_branch(t, list[i], branch_id(id, list[i]), depth, all || is_wanted(t->screen, list[i]->name));
}

/* Returns whether the function belongs to the program: "name /app/x.py". */
static bool is_own(const struct profile_node *n)
{
	const char *file = strrchr(n->name, ' ');

	return file && n->kind > FRAME_KIND_REASON && !own_is_library(file + 1);
}

/* A function that has the total of its only callee is left out: of such a chain only one is shown, the innermost of
 * the program's own, else the innermost. Returns the last of the chain, whose id is *id. */
static const struct profile_node *end_of_chain(const struct profile_node *n, uint64_t *id,
	const struct profile_node **ret_shown)
{
	*ret_shown = n;
	while (n->kind != FRAME_KIND_KEY && n->nchildren == 1 && n->children->total == n->total) {
		n = n->children;
		*id = branch_id(*id, n);
		if (is_own(n) || !is_own(*ret_shown))
			*ret_shown = n;
	}
	return n;
}

static void add_branch(struct tree *t, const struct profile_node *n, uint64_t id, unsigned depth, bool all)
{
	struct screen *s = t->screen;
	const struct profile_node *shown = n;
	/* Matching branches are unfolded. */
	bool wide = n->total >= t->whole / NARROW || (s->filter && !all), open;

	if (!s->filter)
		n = end_of_chain(n, &id, &shown);
	open = wide != (find_toggled(s, id) < s->toggled.len);
	if (s->lines >= t->first && s->lines < t->first + s->rows)
		add_branch_line(t, n, shown->name, depth, !n->children ? ' ' : open ? '-' : '+');
	if (s->lines == s->cursor)
		s->under_cursor = id;
	s->lines++;
	/* Do not indent a chain of calls without branches. */
	if (open)
		add_children(t, n, id, depth + (n->nchildren > 1), all);
}

static void add_stacks(struct screen *s, const struct show *show, const struct map_content *c, struct str *out)
{
	struct profile *p = profile_new(false, 0);
	struct recording *r = recording_new();
	struct tree t = {.screen = s, .out = out};
	const struct profile_node *root;

	profile_add(p, r, recording_add(r, show, c), NULL, true);
	root = profile_root(p);
	t.whole = root->total ? root->total : 1;
	t.first = s->has_keys && s->cursor >= s->rows ? s->cursor - s->rows + 1 : 0;
	s->lines = 0;
	add_children(&t, root, 0, 0, !s->filter);
	if (s->lines && s->cursor >= s->lines)
		s->cursor = s->lines - 1;
	profile_free(p);
	recording_free(r);
}

void screen_map(struct screen *s, const struct show *show, const struct map_content *c, struct str *out)
{
	struct show names = *show; /* a key is one line */

	names.text = SHOW_NAMES;
	if (recording_takes(c->map))
		add_stacks(s, &names, c, out);
	else if (is_numbers(c->map))
		add_numbers(s, &names, c, out);
	else
		add_printed(s, &names, c, out);
}

/* ---- the terminal -------------------------------------------------------- */

static void put(const char *text, size_t n)
{
	while (n) {
		ssize_t r = write(STDOUT_FILENO, text, n);

		if (r <= 0)
			return;
		text += r;
		n -= (size_t)r;
	}
}

void screen_set_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
}

void screen_switch(bool other)
{
	const char *text = other ? "\033[?1049h\033[?25l" : "\033[?25h\033[?1049l";

	put(text, strlen(text));
}

/* Erases each line to its end. */
void screen_put(const struct str *lines)
{
	struct str text = {};

	str_add(&text, "\033[H");
	for (size_t i = 0; i < lines->len; i++) {
		if (lines->data[i] == '\n')
			str_add(&text, "\033[K");
		str_addc(&text, lines->data[i]);
	}
	str_add(&text, "\033[J");
	put(text.data, text.len);
	str_done(&text);
}
