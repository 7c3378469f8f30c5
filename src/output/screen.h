// SPDX-License-Identifier: Apache-2.0
/* screen.h - a map as the lines of a terminal, to be drawn again and again: the largest first, with bars;
 * stacks as a tree whose branches fold. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map_content;
struct show;
struct str;

struct screen { /* zeroed, then */
	unsigned columns, rows; /* of the terminal; a map has at most so many lines */
	size_t cursor;          /* line of a tree that is marked */
	size_t lines;           /* out: of the tree, those that do not fit too */
	uint64_t under_cursor;  /* out: the branch */
	VEC(uint64_t) toggled;  /* branches that are not folded, or unfolded, as by default */
	bool has_keys;          /* there is a cursor */
	bool by_name;           /* sorted by keys and functions, not by value */
	const char *filter;     /* only what has that in its name, whatever the case; NULL: all */
};

void screen_done(struct screen *s);
/* Appends the map's lines, each ending in "\n" and no wider than the terminal. */
void screen_map(struct screen *s, const struct show *show, const struct map_content *c, struct str *out);
/* Appends text cut at the width, in columns, without its control characters. */
void screen_add_cut(struct str *out, const char *text, unsigned width);
/* To the terminal's other screen, without a cursor, or back. */
void screen_switch(bool other);
/* Writes the lines over what the screen had. */
void screen_put(const struct str *lines);
/* Folds the branch under the cursor, or unfolds it. */
void screen_toggle(struct screen *s);
