// SPDX-License-Identifier: Apache-2.0
/* screen.h - a map as the lines of a terminal, drawn repeatedly: the largest first, with bars; stacks are a
 * tree whose branches fold. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct map_content;
struct show;
struct str;

struct screen { /* zero it first */
	unsigned columns, rows; /* size of the terminal; a map has at most this many lines */
	size_t cursor;          /* selected line of a tree */
	size_t lines;           /* out: number of lines of the tree, including those that do not fit */
	uint64_t under_cursor;  /* out: id of the branch */
	VEC(uint64_t) toggled;  /* branches whose folding is not the default */
	bool has_keys;          /* keys are read, so there is a cursor */
	bool by_name;           /* sort by keys and functions, not by value */
	const char *filter;     /* show only names that contain this, ignoring case; NULL: all */
};

void screen_done(struct screen *s);
/* Appends the map's lines, each ending in "\n" and no wider than the terminal. */
void screen_map(struct screen *s, const struct show *show, const struct map_content *c, struct str *out);
/* Appends text cut at the width, in columns, without its control characters. */
void screen_add_cut(struct str *out, const char *text, unsigned width);
/* Sets a locale in which characters have a width, even if the environment does not set UTF-8. */
void screen_set_locale(void);
/* Switches to the terminal's other screen, without a cursor, or back. */
void screen_switch(bool other);
/* Replaces the screen's lines. */
void screen_put(const struct str *lines);
/* Folds the branch under the cursor, or unfolds it. */
void screen_toggle(struct screen *s);
