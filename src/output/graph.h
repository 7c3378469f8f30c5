// SPDX-License-Identifier: Apache-2.0
/* graph.h - a profile as a flame graph: what of it is wide enough, its colours, and its data for flame.js. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile.h"

struct graph {
	struct profile *profile; /* not owned */
	const struct profile_node *root;
	const char *unit;
	bool compares;           /* with what was before: colours are of the difference */
	unsigned lines;          /* 0: functions alone; 1: by line, shown by function; 2: shown by line */
	/* Set by graph_init(). */
	VEC(const char *) names; /* sorted */
	uint64_t least;          /* narrower nodes are summed up */
	size_t left_out, rows;
	unsigned deepest;
	bool kinds[FRAME_KINDS];
};

/* What is narrower than a 20,000th of the whole is summed up beside its siblings, and wider ones where the
 * file would be too large. */
enum { GRAPH_NARROWEST = 20000 }; /* of profile_new() */
void graph_init(struct graph *g);
void graph_done(struct graph *g);
/* Would nodes be left out because they are too many? */
bool graph_is_large(const struct profile_node *root);
const char *graph_colour(const struct graph *g, const struct profile_node *n);
/* An <svg>, which flame.js makes work; `drawn`: with frames, for programs that show pictures alone. */
void graph_draw(struct graph *g, const char *title, bool drawn, FILE *out);
/* JSON, within a <script>. */
void graph_write_data(struct graph *g, FILE *out);

struct str;
/* Text within an element of XML or HTML, and in a quoted attribute. */
void graph_add_xml(struct str *out, const char *text);
/* A string of JSON within a <script>, or within CDATA. */
void graph_add_json(struct str *out, const char *text);
