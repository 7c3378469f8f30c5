/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - maps on a terminal's other screen, with keys: to fold branches, sort, filter by name, freeze, save.
 * -t and :top are this. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"
#include "screen.h"
#include "values/maps.h"

struct show;

struct view_map {
	const char *name; /* with the @; the caller's */
	struct map_content content;
	struct screen screen;
};

enum view_typing { VIEW_KEYS, VIEW_FILTER, VIEW_SAVE };

struct view { /* zeroed but for show, then */
	const struct show *show;
	const char *leave;  /* what q does: "back", "end" */
	VEC(struct view_map) maps;
	size_t current;     /* whose tree has the cursor */
	bool frozen;        /* maps are not to be read again */
	bool left;          /* q, or the terminal has gone */
	bool by_name;
	bool has_keys;      /* by view_open() */
	enum view_typing typing; /* where what is typed goes.. */
	struct str typed;   /* ..so far */
	struct str filter, note;
};

/* To the other screen, one view at a time; keys are read where stdin is a terminal too. signals: Ctrl-C is one, else a
 * key. */
void view_open(struct view *v, bool signals);
void view_close(struct view *v); /* back, and frees all */
/* The content of that map of the view, to be read again: its old one is freed. The pointer holds until the
 * next call. */
struct map_content *view_content(struct view *v, const char *name);
void view_draw(struct view *v, unsigned columns, unsigned rows);
/* Whether strata was stopped (Ctrl-Z) and goes on, since the last call: the view is to be drawn again. */
bool view_resumed(void);
/* Reads what was typed and does it. */
void view_keys(struct view *v);
