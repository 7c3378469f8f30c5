/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - maps on a terminal's other screen, with keys: to fold branches, sort, filter by name, freeze,
 * save. -t and :top use it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"
#include "screen.h"
#include "values/entries.h"

struct show;

struct view_map {
	const char *name; /* with the @; owned by the caller */
	struct map_content content;
	struct screen screen;
};

enum view_typing { VIEW_KEYS, VIEW_FILTER, VIEW_SAVE };

struct view { /* zero it except for show */
	const struct show *show;
	const char *leave;  /* the word for q: "back", "end" */
	VEC(struct view_map) maps;
	size_t current;     /* index of the map whose tree has the cursor */
	bool frozen;        /* do not read the maps again */
	bool left;          /* after q, or if the terminal is gone */
	bool by_name;
	bool has_keys;      /* set by view_open() */
	enum view_typing typing; /* purpose of the text that is typed */
	struct str typed;   /* the text so far */
	struct str filter, note;
};

/* Switches to the other screen, for one view at a time. Keys are read if stdin is a terminal, too. signals:
 * Ctrl-C is a signal, else a key. */
void view_open(struct view *v, bool signals);
void view_close(struct view *v); /* switches back, and frees all */
/* Returns the content of a map of the view, to be read again: the old one is freed. The pointer is
 * valid until the next call. */
struct map_content *view_content(struct view *v, const char *name);
void view_draw(struct view *v, unsigned columns, unsigned rows);
/* Returns whether strata was stopped (Ctrl-Z) and continues, since the last call: draw the view again. */
bool view_resumed(void);
/* Reads keys and acts on them. */
void view_keys(struct view *v);
