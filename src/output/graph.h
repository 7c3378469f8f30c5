// SPDX-License-Identifier: Apache-2.0
/* graph.h - a profile as a flame graph: the nodes that are wide enough, their colours, and the data for flame.js. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stack_tree.h"

struct graph {
	struct profile *profile; /* not owned */
	const struct profile_node *root;
	const char *unit;
	const char *about; /* names the traced command, as recording.about; NULL: unknown */
	bool compares;           /* with an earlier recording: colours show the difference */
	unsigned lines;          /* 0: functions only; 1: by line, shown by function; 2: shown by line */
	/* Set by graph_init(). */
	VEC(const char *) names; /* sorted */
	uint64_t least;          /* sums up narrower nodes */
	size_t left_out, rows;
	unsigned deepest;
	bool kinds[FRAME_KINDS];
};

/* Nodes narrower than a 20,000th of the whole are summed up in one node next to their siblings; wider ones,
 * too, if the file would be too large. */
enum { GRAPH_NARROWEST = 20000 }; /* argument of profile_new() */
void graph_init(struct graph *g);
void graph_done(struct graph *g);
/* Returns whether nodes would be left out because there are too many. */
bool graph_is_large(const struct profile_node *root);
const char *graph_colour(const struct graph *g, const struct profile_node *n);
/* Writes an <svg>, for flame.js; `drawn`: with frames, for programs that only show pictures. */
void graph_draw(struct graph *g, const char *title, bool drawn, FILE *out);
/* Writes JSON for a <script>. */
void graph_write_data(struct graph *g, FILE *out);

struct str;
/* Appends text for an element of XML or HTML, or for a quoted attribute. */
void graph_add_xml(struct str *out, const char *text);
/* Appends a string of JSON for a <script>, or for CDATA. */
void graph_add_json(struct str *out, const char *text);
