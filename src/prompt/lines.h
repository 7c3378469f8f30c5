// SPDX-License-Identifier: Apache-2.0
/* lines.h - the scripts typed at a prompt. Each is compiled separately, with the maps and definitions of
 * earlier ones, and runs until it is dropped. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "driver/driver.h"
#include "model/image.h"

struct prompt_options;
struct session;

/* A typed script without errors. */
struct line {
	unsigned number;      /* for showing and dropping it, from 1 */
	char *text;           /* as typed; owned */
	char *saved;          /* its text in a saved script, owned; NULL if there is none */
	struct compile compile; /* its arena is NULL when no part is needed any more */
	unsigned probes;      /* attach targets */
	bool runs;            /* its probes are attached */
	bool brings_maps;     /* it has maps that no earlier line had */
};

/* A definition of a line: C, a macro, or the declaration of a map. */
struct definition {
	char *text;           /* owned */
	const char *name;     /* of a macro, owned; else NULL */
	unsigned nparams;
	bool is_c;
};

struct lines {
	const struct prompt_options *opt;
	struct session *session;
	VEC(struct line *) all; /* by number; NULL for lines that are gone */
	VEC(const struct image *) images; /* images that created maps */
	struct symbols symbols;           /* the maps of these images */
	VEC(struct definition) definitions;
	char *earlier;            /* the text of all definitions; owned */
	struct source definitions_source;
	unsigned last;            /* number of the last line */
};

/* Runs the session's first image, an empty script with all parts that the lines share. Returns false after
 * an error if the kernel refuses it. */
bool lines_begin(struct lines *l);
/* Compiles and runs a line; errors go to stderr. Returns NULL after an error. */
const struct line *lines_add(struct lines *l, const char *text);
/* Returns false if there is no such line, or it does not run. */
bool lines_drop(struct lines *l, unsigned number);
/* Drops the lines that have called exit(). Returns the number of one of them, or 0. */
unsigned lines_drop_exited(struct lines *l);
/* Returns the first map of this name that a line created, or NULL if there is none. */
const struct image_map *lines_map(const struct lines *l, const char *name);
/* Writes a script with the effect of all lines that were not dropped. */
void lines_save(const struct lines *l, FILE *out);
/* Called after the session is closed. */
void lines_done(struct lines *l);
