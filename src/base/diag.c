// SPDX-License-Identifier: Apache-2.0
/* diag.c - collects errors and warnings about a script and prints them as a compiler does:
 *
 *     map.bt:2:12: error: @x holds int64, not string[4] [map-type]
 *         end { @x = "one" }
 *                    ^^^^^ */
#include "diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "arena.h"
#include "log.h"
#include "str.h"

struct note {
	struct span span;
	const char *text;
	struct note *next;
};

struct diag {
	bool error;
	enum diag_tag tag;
	struct span span;
	const char *text;
	const char *hint;
	struct note *notes, **notes_end;
	struct diag *next;
};

struct diags {
	struct arena *arena;
	const struct source *source;
	struct diag *first, **end, *last;
	unsigned count; /* at most DIAGS_MAX; later ones are dropped */
	bool failed;
};

enum { DIAGS_MAX = 100 }; /* a reader does not need more, and finding the position of each takes time */

static const char *const tag_names[] = {
#define D(tag, name, help) [DIAG_##tag] = name,
#include "diag.def"
#undef D
};

const char *diag_tag_name(enum diag_tag tag)
{
	return tag_names[tag];
}

struct diags *diags_new(struct arena *a, const struct source *src)
{
	struct diags *d = arena_new_obj(a, struct diags);

	d->arena = a;
	d->source = src;
	d->end = &d->first;
	return d;
}

bool diags_failed(const struct diags *d)
{
	return d->failed;
}

bool diags_none(const struct diags *d)
{
	return !d->count;
}

bool diags_full(const struct diags *d)
{
	return d->count == DIAGS_MAX;
}

static void diag_add(struct diags *d, bool error, struct span at, enum diag_tag tag,
	const char *fmt, va_list ap)
{
	struct diag *g;

	d->failed |= error;
	if (d->count == DIAGS_MAX) {
		d->last = NULL;
		return;
	}
	g = arena_new_obj(d->arena, struct diag);
	g->error = error;
	g->tag = tag;
	g->span = at;
	g->text = arena_vprintf(d->arena, fmt, ap);
	g->notes_end = &g->notes;
	*d->end = d->last = g;
	d->end = &g->next;
	d->count++;
}

bool diag(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_add(d, true, at, tag, fmt, ap);
	va_end(ap);
	return false;
}

void diag_warn(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_add(d, false, at, tag, fmt, ap);
	va_end(ap);
}

void diag_note(struct diags *d, struct span at, const char *fmt, ...)
{
	struct note *n;
	va_list ap;

	if (!d->last)
		return;
	n = arena_new_obj(d->arena, struct note);
	n->span = at;
	va_start(ap, fmt);
	n->text = arena_vprintf(d->arena, fmt, ap);
	va_end(ap);
	*d->last->notes_end = n;
	d->last->notes_end = &n->next;
}

void diag_hint(struct diags *d, const char *fmt, ...)
{
	va_list ap;

	if (!d->last)
		return;
	va_start(ap, fmt);
	d->last->hint = arena_vprintf(d->arena, fmt, ap);
	va_end(ap);
}

/* ---- printing ---- */

struct printer {
	const struct source *source;
	FILE *out;
	const char *bold, *red, *yellow, *cyan, *off;
};

enum { SHOWN = 160 }; /* bytes that are shown of a long line, around the span */

/* Finds the shown part of the line that contains the spot. */
static void line_around(const char *text, const struct source_spot *spot, size_t *start, size_t *end)
{
	for (*start = spot->at; *start > spot->start && text[*start - 1] != '\n';)
		--*start;
	for (*end = spot->at; *end < spot->end && text[*end] != '\n';)
		++*end;
	if (*end - *start <= SHOWN)
		return;
	if (spot->at - *start > SHOWN / 2)
		*start = spot->at - SHOWN / 2;
	if (*end - *start > SHOWN)
		*end = *start + SHOWN;
	while (*start < spot->at && ((unsigned char)text[*start] & 0xc0) == 0x80)
		++*start;
}

/* Prints the line in which a span begins and underlines the span. A tab stays a tab in both lines, so that
 * the underline fits at any tab width. A UTF-8 sequence is one column. */
static void print_line(const struct printer *p, struct span at, const char *colour)
{
	struct source_spot spot = source_spot(p->source, at.start);
	const char *text = p->source->text;
	size_t start, end, to, i;

	line_around(text, &spot, &start, &end);
	to = spot.at + (at.end - at.start) < end ? spot.at + (at.end - at.start) : end;
	fputs("    ", p->out);
	for (i = start; i < end; i++)
		putc(iscntrl((unsigned char)text[i]) && text[i] != '\t' ? ' ' : text[i],
			p->out);
	fputs("\n    ", p->out);
	for (i = start; i < spot.at; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			putc(text[i] == '\t' ? '\t' : ' ', p->out);
	fprintf(p->out, "%s^", colour);
	for (i = spot.at + 1; i < to; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			putc('^', p->out);
	fprintf(p->out, "%s\n", p->off);
}

static void print_head(const struct printer *p, struct span at, const char *kind,
	const char *colour, const char *text, const char *tag)
{
	struct source_spot spot = source_spot(p->source, at.start);
	unsigned line, col;

	source_position(p->source, at.start, &line, &col);
	fputs(p->bold, p->out);
	str_put_safe(spot.name, p->out);
	fprintf(p->out, ":%u:%u: %s%s:%s ", line, col, colour, kind, p->off);
	str_put_safe(text, p->out);
	if (tag)
		fprintf(p->out, " [%s]", tag);
	putc('\n', p->out);
	print_line(p, at, colour);
}

/* Prints the macro uses that contain an error, innermost first. */
static void print_uses(const struct printer *p, struct span at)
{
	const struct source_use *use;

	while ((use = source_spot(p->source, at.start).use)) {
		at = use->from;
		print_head(p, at, "note", p->cyan, "in the macro used here", NULL);
	}
}

static void print_diag(const struct printer *p, const struct diag *g)
{
	print_head(p, g->span, g->error ? "error" : "warning",
		g->error ? p->red : p->yellow, g->text, tag_names[g->tag]);
	print_uses(p, g->span);
	for (const struct note *n = g->notes; n; n = n->next)
		print_head(p, n->span, "note", p->cyan, n->text, NULL);
	if (!g->hint)
		return;
	fprintf(p->out, "%shint:%s ", p->cyan, p->off);
	str_put_safe(g->hint, p->out);
	putc('\n', p->out);
}

/* Sorts by position, then by the order of reporting. The list is nearly sorted already. */
static struct diag **sorted(const struct diags *d)
{
	struct diag **all = arena_new_array(d->arena, struct diag *, d->count + 1);
	unsigned n = 0;

	for (struct diag *g = d->first; g; g = g->next) {
		uint32_t at = source_outermost(d->source, g->span).start;
		unsigned i = n++;

		for (; i > 0 && source_outermost(d->source, all[i - 1]->span).start > at; i--)
			all[i] = all[i - 1];
		all[i] = g;
	}
	return all;
}

void diags_print(const struct diags *d, FILE *out, bool colour)
{
	struct printer p = {
		.source = d->source,
		.out = out,
		.bold = colour ? "\033[1m" : "",
		.red = colour ? "\033[1;31m" : "",
		.yellow = colour ? "\033[1;33m" : "",
		.cyan = colour ? "\033[1;36m" : "",
		.off = colour ? "\033[0m" : "",
	};
	struct diag **all = sorted(d);

	for (unsigned i = 0; i < d->count; i++) {
		if (i > 0 && all[i]->span.start == all[i - 1]->span.start &&
			!strcmp(all[i]->text, all[i - 1]->text))
			continue;
		if (!all[i]->error && !log_warnings)
			continue;
		log_errors += all[i]->error;
		print_diag(&p, all[i]);
	}
	if (diags_full(d))
		fprintf(out, "%shint:%s no more than %d errors and warnings are shown\n", p.cyan, p.off,
			DIAGS_MAX);
}
