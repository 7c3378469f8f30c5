// SPDX-License-Identifier: Apache-2.0
/* svg.c - -f svg: a flame graph in one file. It contains the frames for programs that only show pictures; a
 * browser runs flame.js, which draws them again from the data, to zoom and to search. */
#include "collect.h"
#include "flame.h"
#include "graph.h"

extern const char output_flame_js[], output_flame_css[];

static int render(const struct picture *p, FILE *file)
{
	struct flame f;

	flame_of_all(p, &f);
	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	graph_draw(&f.drawn, f.title, true, file);
	fprintf(file, "<style>%s</style>\n<script type=\"application/json\" id=\"data\"><![CDATA[", output_flame_css);
	graph_write_data(&f.data, file);
	fprintf(file, "]]></script>\n<script><![CDATA[\n%s\nflame(document.documentElement,"
		" JSON.parse(document.getElementById('data').textContent));\n]]></script>\n</svg>\n", output_flame_js);
	flame_done(&f);
	return 0;
}

const struct output output_svg = {
	.name = "svg",
	.help = "a flame graph of the maps keyed by stacks, for a browser",
	.endings = "svg",
	.exact = true,
	COLLECTS,
	.render = render,
	.compares = true,
	.is_picture = true,
};
