// SPDX-License-Identifier: Apache-2.0
/* graph.c - flame graphs. See graph.h. */
#include "graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"

#define SMALL "(smaller ones)"

enum {
	NODES_MAX = 120000,
	ROW = 17, TOP = 76,    /* the same as in flame.js */
	DRAWN = 2000,          /* minimum width, as a part, of a frame drawn without a browser */
	NAMED = 50,            /* minimum width of a frame whose name is drawn */
	NAME_MAX_DRAWN = 300,  /* bytes of a name that are drawn without a browser */
	LEVELS = 9,            /* shades of red, and of blue */
};

/* By kind: three shades each; the row number of a language decides. */
static const char *const shades[][3] = {
	[FRAME_KIND_KEY] = {"#c9ccd1", "#d3d6da", "#bfc3c9"},
	[FRAME_KIND_NATIVE] = {"#f2b36b", "#f6c384", "#eda556"},
	[FRAME_KIND_INLINED] = {"#f7dca0", "#f9e3b1", "#f3d28c"},
	[FRAME_KIND_KERNEL] = {"#f08a7c", "#f39c90", "#ea7868"},
	[FRAME_KIND_REASON] = {"#a7a9ad", "#b3b5b9", "#9a9ca1"},
	{"#82b7e8", "#94c2ec", "#6face3"},
	{"#9fd6c3", "#aedccc", "#8ecfb9"},
	{"#e9dc6c", "#ede283", "#e3d455"},
	{"#b9a7e6", "#c5b6ea", "#ad98e0"},
	{"#a8d08d", "#b5d89e", "#9bc87c"},
	{"#e6a7c8", "#ebb6d2", "#df97be"},
};

/* From much less than before, over unchanged, to much more than before. */
static const char *const levels[2 * LEVELS + 1] = {
	"#4f86ee", "#6192ef", "#739ef0", "#85abf1", "#97b7f1", "#a9c3f2", "#bbd0f2", "#cddcf3", "#d9e3f3", "#e6e6e6",
	"#f3dcd9", "#f5cfca", "#f5beb7", "#f4ada4", "#f39c91", "#f18b7e", "#ef7a6b", "#ed6958", "#ea5545",
};

static const char *shade(enum frame_kind k, size_t name)
{
	return shades[(size_t)k % ARRAY_SIZE(shades)][name % 3];
}

/* ---- text ---------------------------------------------------------------- */

/* Skips U+FFFE and U+FFFF, which XML forbids. */
static bool is_forbidden(const char *text)
{
	return !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);
}

void graph_add_xml(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			str_add(out, "&amp;");
		else if (*text == '<')
			str_add(out, "&lt;");
		else if (*text == '>')
			str_add(out, "&gt;");
		else if (*text == '"')
			str_add(out, "&quot;");
		else if (is_forbidden(text))
			str_add(out, "\xef\xbf\xbd"), text += 2;
		else
			str_addc(out, *text);
	}
}

void graph_add_json(struct str *out, const char *text)
{
	str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_addf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || strchr("<>&\x7f", *text))
			str_addf(out, "\\u%04x", *text);
		else if (is_forbidden(text))
			str_add(out, "\\ufffd"), text += 2;
		else
			str_addc(out, *text);
	}
	str_addc(out, '"');
}

/* Returns the number of first bytes up to the end of a character. */
static void add_cut(struct str *out, const char *text)
{
	char cut[NAME_MAX_DRAWN + 4];
	size_t n = NAME_MAX_DRAWN;

	if (strlen(text) <= NAME_MAX_DRAWN) {
		graph_add_xml(out, text);
		return;
	}
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	snprintf(cut, sizeof(cut), "%.*s", (int)n, text);
	graph_add_xml(out, cut);
	str_add(out, "..");
}

/* ---- comparisons ---------------------------------------------------------- */

/* Returns the factor of its growth, as a part of the whole; new nodes have a very large one. */
static double growth(const struct graph *g, const struct profile_node *n)
{
	double before = (double)n->before / (double)(g->root->before ? g->root->before : 1);
	double now = (double)n->total / (double)g->root->total;

	return before > 0 ? now / before : 1000;
}

/* Returns the difference of its parts of the whole. */
static double difference(const struct graph *g, const struct profile_node *n)
{
	return (double)n->total / (double)g->root->total -
		(double)n->before / (double)(g->root->before ? g->root->before : 1);
}

/* Returns whether one of its callees has nearly all of the difference, and has changed by more, so that the callee is
 * the one to look at. If the callee is new, the node itself has changed. */
static bool is_explained(const struct graph *g, const struct profile_node *n)
{
	double all = difference(g, n), much = fabs(log2(growth(g, n)));

	for (const struct profile_node *c = n->children; c; c = c->next) {
		double part = difference(g, c);

		if (c->total && c->before && part * all > 0 && fabs(part) >= 0.8 * fabs(all) &&
			fabs(log2(growth(g, c))) > much + 0.2)
			return true;
	}
	return false;
}

/* From -LEVELS, much less than before, to LEVELS, much more. Less than half a percent of the whole, or a
 * tenth of the node, is noise. */
static int level_of(const struct graph *g, const struct profile_node *n)
{
	double change = difference(g, n), times;
	int level;

	if (!g->compares || fabs(change) < 0.005 || !n->total)
		return 0;
	times = fabs(log2(growth(g, n)));
	if (times < log2(1.1) || is_explained(g, n))
		return 0;
	level = 2 + (int)(times * 4);
	level = level > LEVELS ? LEVELS : level;
	return change > 0 ? level : -level;
}

/* ---- nodes and names -------------------------------------------------------- */

static size_t count_wide(const struct profile_node *n, uint64_t least)
{
	size_t count = 1;

	for (const struct profile_node *c = n->children; c && c->total >= least; c = c->next)
		count += count_wide(c, least);
	return count;
}

static uint64_t narrowest(const struct profile_node *root)
{
	return root->total < GRAPH_NARROWEST ? 1 : root->total / GRAPH_NARROWEST + 1;
}

bool graph_is_large(const struct profile_node *root)
{
	return count_wide(root, narrowest(root)) > NODES_MAX;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_names(struct graph *g, const struct profile_node *n, unsigned depth)
{
	vec_push(&g->names, n->name);
	g->kinds[n->kind] = true;
	g->deepest = depth > g->deepest ? depth : g->deepest;
	for (const struct profile_node *c = n->children; c; c = c->next) {
		if (c->total >= g->least)
			collect_names(g, c, depth + 1);
		else
			g->left_out += c->total > 0;
	}
	g->left_out += n->nsmall;
}

static void sort_names(struct graph *g)
{
	size_t kept = 0;

	vec_push(&g->names, SMALL);
	qsort(g->names.data, g->names.len, sizeof(char *), by_name);
	for (size_t i = 0; i < g->names.len; i++)
		if (!i || strcmp(g->names.data[i], g->names.data[kept - 1]))
			g->names.data[kept++] = g->names.data[i];
	g->names.len = kept;
}

void graph_init(struct graph *g)
{
	g->least = narrowest(g->root);
	while (count_wide(g->root, g->least) > NODES_MAX)
		g->least += g->least / 2 + 1;
	collect_names(g, g->root, 0);
	sort_names(g);
}

void graph_done(struct graph *g)
{
	vec_done(&g->names);
}

static size_t name_number(const struct graph *g, const char *name)
{
	const char **found = bsearch(&name, g->names.data, g->names.len, sizeof(char *), by_name);

	return found ? (size_t)(found - g->names.data) : 0;
}

const char *graph_colour(const struct graph *g, const struct profile_node *n)
{
	return g->compares ? levels[level_of(g, n) + LEVELS] : shade(n->kind, name_number(g, n->name));
}

/* ---- the picture --------------------------------------------------------- */

static void draw_node(const struct graph *g, const struct profile_node *n, uint64_t start, unsigned depth, FILE *out)
{
	uint64_t whole = g->root->total;
	double x = 100.0 * (double)start / (double)whole, width = 100.0 * (double)n->total / (double)whole;
	struct str name = {};

	if (n->total < whole / DRAWN || !n->total)
		return;
	add_cut(&name, n->name);
	fprintf(out, "<svg class=\"f\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"><rect fill=\"%s\"/>", x,
		TOP + ROW * (g->deepest - depth), width, ROW, graph_colour(g, n));
	if (n->total >= whole / NAMED)
		fprintf(out, "<text x=\"3\" y=\"12.5\">%s</text>", str_text(&name));
	fprintf(out, "<title>%s: %" PRIu64 " (%.2f %%)</title></svg>\n", str_text(&name), n->total, width);
	str_done(&name);
	for (const struct profile_node *c = n->children; c; c = c->next) {
		draw_node(g, c, start, depth + 1, out);
		start += c->total;
	}
}

static void draw_legend_row(unsigned *x, const char *colour, const char *name, FILE *out)
{
	fprintf(out, "<rect x=\"%u\" y=\"2\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>"
		"<text x=\"%u\" y=\"12\">%s</text>\n", *x, colour, *x + 17, name);
	*x += 17 + 7 * (unsigned)strlen(name) + 24;
}

static void draw_legend(const struct graph *g, unsigned from, FILE *out)
{
	unsigned x = 0;

	fprintf(out, "<g class=\"legend\" transform=\"translate(%u 10)\">\n", from);
	for (int k = 0; k < FRAME_KINDS && !g->compares; k++)
		if (g->kinds[k])
			draw_legend_row(&x, shade(k, 0), frame_kind_name(k), out);
	if (g->compares) {
		draw_legend_row(&x, levels[2 * LEVELS - 1], "more than before", out);
		draw_legend_row(&x, levels[LEVELS], "as before", out);
		draw_legend_row(&x, levels[1], "less than before", out);
	}
	fputs("</g>\n", out);
}

/* hidden if no script runs */
static void draw_buttons(FILE *out)
{
	static const struct {
		const char *class, *name, *help;
		unsigned right; /* pixels from the right edge to its beginning */
	} rows[] = {
		{"lines", "Lines", "l: split functions by line, or not", 232},
		{"reset", "Reset", "Escape: the whole, without a search", 160},
		{"flip", "Flip", "i: turn it over", 106},
		{"search", "Search", "/: functions by regular expression", 58},
	};

	fputs("<g class=\"script\" visibility=\"hidden\">", out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fprintf(out, "<text class=\"button %s\" x=\"100%%\" dx=\"-%u\" y=\"22\">%s<title>%s</title></text>",
			rows[i].class, rows[i].right, rows[i].name, rows[i].help);
	fputs("</g>\n", out);
}

/* Draws the line that names the traced command, and the unit of the widths. */
static void draw_about(const struct graph *g, FILE *out)
{
	const char *counted = g->about && strstr(g->about, " Hz") ? "samples" : "events";
	struct str text = {};

	if (g->about)
		graph_add_xml(&text, g->about);
	if (*g->unit)
		str_addf(&text, "%sunit: %s", text.len ? ", " : "", strcmp(g->unit, "count") ? g->unit : counted);
	fprintf(out, "<text class=\"quiet about\" x=\"10\" y=\"42\">%s</text>\n", str_text(&text));
	str_done(&text);
}

static void draw_head(const struct graph *g, const char *title, FILE *out)
{
	struct str name = {};

	graph_add_xml(&name, title);
	fprintf(out, "<text class=\"title\" x=\"10\" y=\"22\">%s</text>\n", str_text(&name));
	str_done(&name);
	draw_buttons(out);
	draw_about(g, out);
	fputs("<text class=\"now\" x=\"10\" y=\"62\">", out);
	if (g->left_out)
		fprintf(out, "%zu frames that are narrower than %.3f %% are summed up", g->left_out,
			100.0 * (double)g->least / (double)g->root->total);
	fputs("</text>\n<text class=\"quiet found\" x=\"100%\" dx=\"-10\" y=\"62\" text-anchor=\"end\"></text>\n", out);
}

void graph_draw(struct graph *g, const char *title, bool drawn, FILE *out)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"100%%\" height=\"%u\">\n",
		TOP + ROW * (g->deepest + 1) + 10);
	draw_head(g, title, out);
	fputs("<g class=\"frames\">\n", out);
	if (drawn)
		draw_node(g, g->root, 0, 0, out);
	fputs("</g>\n", out);
	draw_legend(g, 34 + 10 * (unsigned)strlen(title), out);
}

/* ---- the data ------------------------------------------------------------ */

static void add_row(struct graph *g, struct str *out, const struct profile_node *n, unsigned depth)
{
	str_addf(out, "%s[%zu,%d,%" PRIu64 ",%" PRIu64 ",%u", g->rows++ ? "," : "", name_number(g, n->name),
		n->kind, n->self, n->total, depth);
	if (g->lines || g->compares)
		str_addf(out, ",%u", n->line);
	if (g->compares)
		str_addf(out, ",%" PRIu64 ",%d", n->before, level_of(g, n));
	str_addc(out, ']');
}

static void add_rows(struct graph *g, struct str *out, const struct profile_node *n, unsigned depth)
{
	struct profile_node small = {.name = SMALL, .kind = FRAME_KIND_KEY, .self = n->small, .total = n->small,
		.before = n->small_before};

	add_row(g, out, n, depth);
	for (const struct profile_node *c = n->children; c; c = c->next) {
		if (c->total >= g->least) {
			add_rows(g, out, c, depth + 1);
			continue;
		}
		small.total = small.self += c->total;
		small.before += c->before;
	}
	if (small.total)
		add_row(g, out, &small, depth + 1);
}

static void add_list(struct str *out, const char *name)
{
	str_addf(out, "],\n\"%s\":[", name);
}

void graph_write_data(struct graph *g, FILE *out)
{
	struct str text = {};

	str_add(&text, "{\"unit\":");
	graph_add_json(&text, g->unit);
	str_addf(&text, ",\"lines\":%u,\n\"names\":[", g->lines);
	for (size_t i = 0; i < g->names.len; i++) {
		str_add(&text, i ? "," : "");
		graph_add_json(&text, g->names.data[i]);
	}
	add_list(&text, "kinds");
	for (int k = 0; k < FRAME_KINDS; k++)
		str_addf(&text, "%s\"%s\"", k ? "," : "", frame_kind_name(k));
	add_list(&text, "colours");
	for (int k = 0; k < FRAME_KINDS; k++)
		str_addf(&text, "%s[\"%s\",\"%s\",\"%s\"]", k ? "," : "", shade(k, 0), shade(k, 1), shade(k, 2));
	if (g->compares)
		add_list(&text, "levels");
	for (size_t i = 0; g->compares && i < ARRAY_SIZE(levels); i++)
		str_addf(&text, "%s\"%s\"", i ? "," : "", levels[i]);
	add_list(&text, "rows");
	add_rows(g, &text, g->root, 0);
	str_add(&text, "]}");
	fwrite(text.data, 1, text.len, out);
	str_done(&text);
}
