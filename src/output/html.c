// SPDX-License-Identifier: Apache-2.0
/* html.c - -f html: a page that needs no network: a tab for each map, with its flame graph, the table of its
 * functions, and the callers and callees of the selected one. page.js has the page's behaviour.
 *
 * The table has each function's exact numbers, also those of functions that the graph sums up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "collect.h"
#include "flame.h"
#include "functions.h"

extern const char output_flame_js[], output_flame_css[], output_page_js[], output_page_css[];

enum { FUNCTIONS_MAX = 20000 };

static void write_function(const struct function_total *f, bool compares, FILE *file)
{
	struct str text = {};

	str_addc(&text, '[');
	graph_add_json(&text, f->name);
	str_addf(&text, ",%d,%" PRIu64 ",%" PRIu64, f->kind, f->self, f->total);
	if (compares)
		str_addf(&text, ",%" PRIu64 ",%" PRIu64, f->self_before, f->total_before);
	str_addc(&text, ']');
	fwrite(text.data, 1, text.len, file);
	str_done(&text);
}

static void write_functions(const struct picture *p, const struct recorded_map *m,
	const struct recorded_map *before, FILE *file)
{
	struct functions *f = functions_new(p->recording, m);
	size_t n;

	if (before)
		functions_add_before(f, p->before, before);
	functions_sort(f);
	n = functions_count(f);
	fprintf(file, "{\"total\":%" PRIu64 ",\"before\":%" PRIu64 ",\"left_out\":%zu,\"list\":[", m->total,
		before ? before->total : 0,
		n > FUNCTIONS_MAX ? n - FUNCTIONS_MAX : 0);
	for (size_t i = 0; i < n && i < FUNCTIONS_MAX; i++) {
		fputs(i ? ",\n" : "", file);
		write_function(functions_at(f, i), before, file);
	}
	fputs("]}", file);
	functions_free(f);
}

/* Appends "@bytes", and the time of day if the map was printed several times. */
static void add_title(const struct recording *r, size_t i, struct str *out)
{
	const struct recorded_map *m = r->maps.data[i];
	time_t seconds = (time_t)(m->ns / 1000000000);
	struct tm tm;
	unsigned same = 0;
	char text[32];

	for (size_t k = 0; k < r->maps.len; k++)
		same += !strcmp(r->maps.data[k]->name, m->name);
	str_addf(out, "@%s", m->name);
	if (same > 1 && localtime_r(&seconds, &tm) && strftime(text, sizeof(text), " %H:%M:%S", &tm))
		str_add(out, text);
}

static void write_tab(const struct picture *p, size_t i, FILE *file)
{
	struct recorded_map *m = p->recording->maps.data[i], *before = flame_before(p, m);
	struct str title = {}, safe = {};
	struct flame f;

	if (!m->total)
		return;
	add_title(p->recording, i, &title);
	graph_add_xml(&safe, str_text(&title));
	flame_of_map(p, m, before, &f);
	fprintf(file, "<section class=\"tab\" data-title=\"%s\">\n<div class=\"graph\">", str_text(&safe));
	graph_draw(&f.drawn, str_text(&title), false, file);
	fputs("</svg></div>\n<script type=\"application/json\" class=\"data\">", file);
	graph_write_data(&f.data, file);
	fputs("</script>\n<script type=\"application/json\" class=\"functions\">", file);
	write_functions(p, m, before, file);
	fputs("</script>\n</section>\n", file);
	flame_done(&f);
	str_done(&title);
	str_done(&safe);
}

static int render(const struct picture *p, FILE *file)
{
	fprintf(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>strata</title>\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		"<style>%s%s</style>\n</head>\n<body>\n<nav></nav>\n",
		output_flame_css, output_page_css);
	for (size_t i = 0; i < p->recording->maps.len; i++)
		write_tab(p, i, file);
	fprintf(file, "<script>\n%s\n%s</script>\n</body>\n</html>\n", output_flame_js, output_page_js);
	return 0;
}

const struct output output_html = {
	.name = "html",
	.help = "a page with flame graphs, the hottest functions, callers and callees",
	.endings = "html htm",
	.exact = true,
	COLLECTS,
	.render = render,
	.compares = true,
	.is_picture = true,
};
