// SPDX-License-Identifier: Apache-2.0
/* svg.c - -f svg: a flame graph in one file. Frames are drawn here, for programs that show pictures alone;
 * a browser runs flame.js, which draws them again from the data, to zoom and to search.
 *
 * What is narrower than a 20,000th of the whole is summed up beside its siblings, and wider ones where the
 * file would be too large: the graph says how many there are. */
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/image.h"
#include "profile.h"
#include "runtime/maps.h"
#include "text.h"

extern const char output_flame_js[], output_flame_css[];

#define SMALL "(smaller ones)"

enum {
	NARROWEST = 20000,     /* of the whole */
	NODES_MAX = 150000,
	ROW = 17, TOP = 58,    /* as in flame.js */
	DRAWN = 2000,          /* a frame narrower than this part is not drawn without a browser */
	NAMED = 50,            /* nor named */
};

/* By kind: three shades each; of languages the row's number decides. */
static const char *const shades[][3] = {
	[PROFILE_KEY] = {"#c9ccd1", "#d3d6da", "#bfc3c9"},
	[PROFILE_NATIVE] = {"#f2b36b", "#f6c384", "#eda556"},
	[PROFILE_INLINED] = {"#f7dca0", "#f9e3b1", "#f3d28c"},
	[PROFILE_KERNEL] = {"#f08a7c", "#f39c90", "#ea7868"},
	[PROFILE_REASON] = {"#a7a9ad", "#b3b5b9", "#9a9ca1"},
	{"#82b7e8", "#94c2ec", "#6facE3"},
	{"#9fd6c3", "#aedccc", "#8ecfb9"},
	{"#e9dc6c", "#ede283", "#e3d455"},
	{"#b9a7e6", "#c5b6ea", "#ad98e0"},
	{"#a8d08d", "#b5d89e", "#9bc87c"},
	{"#e6a7c8", "#ebb6d2", "#df97be"},
};

struct graph {
	struct profile *profile;
	VEC(const char *) names;    /* by number */
	uint64_t least;             /* narrower nodes are summed up */
	size_t left_out, rows;
	unsigned deepest;
	bool kinds[PROFILE_KIND_MAX];
};

struct state {
	struct profile *profile;
	unsigned maps;              /* that were added */
	const char *name;           /* of the first */
};

static struct state state;

static const char *shade(enum profile_kind k, size_t name)
{
	return shades[(size_t)k % ARRAY_SIZE(shades)][name % 3];
}

/* ---- text ---------------------------------------------------------------- */

static void add_xml(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			str_add(out, "&amp;");
		else if (*text == '<')
			str_add(out, "&lt;");
		else if (*text == '>')
			str_add(out, "&gt;");
		else
			str_addc(out, *text);
	}
}

/* Within <script>: "</" would end it. */
static void add_json(struct str *out, const char *text)
{
	str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_addf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == '<' || *text == '&')
			str_addf(out, "\\u%04x", *text);
		else
			str_addc(out, *text);
	}
	str_addc(out, '"');
}

/* ---- what is in the graph ------------------------------------------------ */

static size_t count_wide(const struct profile_node *n, uint64_t least)
{
	size_t count = 1;

	for (const struct profile_node *c = n->children; c && c->total >= least; c = c->next)
		count += count_wide(c, least);
	return count;
}

static void set_least(struct graph *g, const struct profile_node *root)
{
	g->least = root->total / NARROWEST + 1;
	if (root->total < NARROWEST)
		g->least = 1;
	while (count_wide(root, g->least) > NODES_MAX)
		g->least += g->least / 2 + 1;
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
			g->left_out++;
	}
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

static size_t name_number(const struct graph *g, const char *name)
{
	const char **found = bsearch(&name, g->names.data, g->names.len, sizeof(char *), by_name);

	return found ? (size_t)(found - g->names.data) : 0;
}

/* ---- the picture --------------------------------------------------------- */

static void draw_node(const struct graph *g, const struct profile_node *n, uint64_t start, unsigned depth,
	uint64_t whole, FILE *out)
{
	double x = 100.0 * (double)start / (double)whole, width = 100.0 * (double)n->total / (double)whole;
	struct str name = {};

	if (n->total < whole / DRAWN)
		return;
	add_xml(&name, n->name);
	fprintf(out, "<svg class=\"f\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\"><rect fill=\"%s\"/>", x,
		TOP + ROW * (g->deepest - depth), width, ROW, shade(n->kind, name_number(g, n->name)));
	if (n->total >= whole / NAMED)
		fprintf(out, "<text x=\"3\" y=\"12.5\">%s</text>", str_text(&name));
	fprintf(out, "<title>%s: %" PRIu64 " (%.2f %%)</title></svg>\n", str_text(&name), n->total, width);
	str_done(&name);
	for (const struct profile_node *c = n->children; c; c = c->next) {
		draw_node(g, c, start, depth + 1, whole, out);
		start += c->total;
	}
}

static void draw_legend(const struct graph *g, FILE *out)
{
	unsigned x = 0;

	fputs("<g id=\"legend\" transform=\"translate(90 10)\">\n", out);
	for (int k = 0; k < PROFILE_KIND_MAX; k++) {
		const char *name = profile_kind_name(k);

		if (!g->kinds[k])
			continue;
		fprintf(out, "<rect x=\"%u\" y=\"2\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"12\">%s</text>\n", x, shade(k, 0), x + 17, name);
		x += 17 + 7 * (unsigned)strlen(name) + 24;
	}
	fputs("</g>\n", out);
}

static void draw_head(const struct graph *g, const char *title, FILE *out)
{
	struct str name = {};

	add_xml(&name, title);
	fprintf(out, "<text class=\"title\" x=\"10\" y=\"22\">%s</text>\n", str_text(&name));
	str_done(&name);
	fputs("<g class=\"script\" visibility=\"hidden\">"
	      "<text id=\"reset\" class=\"button\" x=\"100%\" dx=\"-165\" y=\"22\">Reset</text>"
	      "<text id=\"flip\" class=\"button\" x=\"100%\" dx=\"-110\" y=\"22\">Flip</text>"
	      "<text id=\"search\" class=\"button\" x=\"100%\" dx=\"-60\" y=\"22\">Search</text></g>\n"
	      "<text id=\"now\" x=\"10\" y=\"44\">", out);
	if (g->left_out)
		fprintf(out, "%zu frames that are narrower than %.3f %% are summed up", g->left_out,
			100.0 * (double)g->least / (double)(profile_root(g->profile)->total));
	fputs("</text>\n<text id=\"found\" class=\"quiet\" x=\"100%\" dx=\"-10\" y=\"44\" text-anchor=\"end\">"
	      "</text>\n", out);
}

/* ---- the data ------------------------------------------------------------ */

static void add_row(struct graph *g, struct str *out, const struct profile_node *n, unsigned depth)
{
	str_addf(out, "%s[%zu,%d,%" PRIu64 ",%" PRIu64 ",%u]", g->rows++ ? "," : "", name_number(g, n->name),
		n->kind, n->self, n->total, depth);
}

static void add_rows(struct graph *g, struct str *out, const struct profile_node *n, unsigned depth)
{
	struct profile_node small = {.name = SMALL, .kind = PROFILE_KEY};

	add_row(g, out, n, depth);
	for (const struct profile_node *c = n->children; c; c = c->next) {
		if (c->total >= g->least)
			add_rows(g, out, c, depth + 1);
		else
			small.total = small.self += c->total;
	}
	if (small.total)
		add_row(g, out, &small, depth + 1);
}

static void add_list(struct str *out, const char *name)
{
	str_addf(out, "],\n\"%s\":[", name);
}

static void write_data(struct graph *g, const struct profile_node *root, FILE *out)
{
	struct str text = {};

	str_add(&text, "{\"unit\":\"\",\n\"names\":[");
	for (size_t i = 0; i < g->names.len; i++) {
		str_add(&text, i ? "," : "");
		add_json(&text, g->names.data[i]);
	}
	add_list(&text, "kinds");
	for (int k = 0; k < PROFILE_KIND_MAX; k++)
		str_addf(&text, "%s\"%s\"", k ? "," : "", profile_kind_name(k));
	add_list(&text, "colours");
	for (int k = 0; k < PROFILE_KIND_MAX; k++)
		str_addf(&text, "%s[\"%s\",\"%s\",\"%s\"]", k ? "," : "", shade(k, 0), shade(k, 1), shade(k, 2));
	add_list(&text, "rows");
	add_rows(g, &text, root, 0);
	str_add(&text, "]}");
	fwrite(text.data, 1, text.len, out);
	str_done(&text);
}

static void write_graph(struct graph *g, const char *title, FILE *out)
{
	const struct profile_node *root = profile_root(g->profile);

	set_least(g, root);
	collect_names(g, root, 0);
	sort_names(g);
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\">\n<style>%s</style>\n",
		TOP + ROW * (g->deepest + 1) + 10, output_flame_css);
	draw_head(g, title, out);
	fputs("<g id=\"frames\">\n", out);
	draw_node(g, root, 0, 0, root->total, out);
	fputs("</g>\n", out);
	draw_legend(g, out);
	fputs("<script type=\"application/json\" id=\"data\"><![CDATA[", out);
	write_data(g, root, out);
	fprintf(out, "]]></script>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", output_flame_js);
	vec_done(&g->names);
}

/* ---- the row ------------------------------------------------------------- */

static void begin(struct out *o, const struct image *img)
{
	for (unsigned i = 0; i < img->nmaps; i++)
		if (profile_is_map(&img->maps[i]))
			return;
	log_warn("-f svg draws maps keyed by stacks, as @[ustack] = count(): this script has none");
}

static void add_map(struct out *o, const struct map_content *c)
{
	struct str name = {};
	size_t negative;

	if (!profile_is_map(c->map)) {
		text_map(o->show, c, false, stderr);
		return;
	}
	if (!state.profile)
		state.profile = profile_new();
	str_addf(&name, "@%s", c->map->name);
	if (!state.maps++)
		state.name = c->map->name;
	negative = profile_add(state.profile, o->show, c, *c->map->name ? str_text(&name) : NULL);
	if (negative)
		log_warn("@%s: %zu stack%s left out: a value below 0 has no width", c->map->name, negative,
			negative == 1 ? " is" : "s are");
	str_done(&name);
}

static void print_text(struct out *o, const char *kind, const char *text, size_t size)
{
	fwrite(text, 1, size, stderr);
}

static void print_value(struct out *o, const struct type *t, const uint8_t *data)
{
	text_value(o->show, t, data, stderr);
}

static void finish(struct out *o)
{
	struct graph g = {.profile = state.profile};

	if (state.profile && profile_root(state.profile)->total)
		write_graph(&g, "strata", o->file);
	else
		log_warn("there is no stack to draw");
	profile_free(state.profile);
	state = (struct state){};
}

const struct output output_svg = {
	.name = "svg",
	.help = "a flame graph of the maps keyed by stacks, for a browser",
	.begin = begin,
	.text = print_text,
	.value = print_value,
	.map = add_map,
	.event = output_event_log,
	.finish = finish,
};
