// SPDX-License-Identifier: Apache-2.0
/* lines.h - the scripts typed at a prompt: each is compiled by itself, with the maps and definitions of
 * those before it, and runs until it is dropped. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "driver.h"
#include "model/image.h"

struct prompt_options;
struct session;

/* A script that was typed and had no error. */
struct line {
	unsigned number;      /* as it is shown and dropped, from 1 */
	char *text;           /* as typed; owned */
	char *saved;          /* what it is in a script; owned; NULL: nothing */
	struct compile compile; /* its arena is NULL once nothing of it is needed */
	unsigned probes;      /* attach targets */
	bool runs;            /* its probes are attached */
	bool brings_maps;     /* that no line before it had */
};

/* What lines have defined: C, macros, declarations of maps. */
struct definition {
	char *text;           /* owned */
	const char *name;     /* of a macro, owned; NULL */
	unsigned nparams;
	bool is_c;
};

struct lines {
	const struct prompt_options *opt;
	struct session *session;
	VEC(struct line *) all; /* by number; those that are gone are NULL */
	VEC(const struct image *) images; /* that brought maps */
	struct symbols symbols;           /* the same */
	VEC(struct definition) definitions;
	char *earlier;            /* the text of all definitions; owned */
	struct source definitions_source;
	unsigned last;            /* number of the last */
};

/* Everything that the lines share comes with the session's first image: an empty script. false: the kernel
 * refuses it, reported. */
bool lines_begin(struct lines *l);
/* Compiles and runs; errors go to stderr. NULL: there was one. */
const struct line *lines_add(struct lines *l, const char *text);
/* false: there is no such line, or it does not run. */
bool lines_drop(struct lines *l, unsigned number);
/* Drops the lines that have called exit(): the number of one, 0: none did. */
unsigned lines_drop_exited(struct lines *l);
/* The first map that a line has made, of this name; NULL: there is none. */
const struct image_map *lines_map(const struct lines *l, const char *name);
/* A script that does what was typed, and was not dropped. */
void lines_save(const struct lines *l, FILE *out);
/* Once the session is closed. */
void lines_done(struct lines *l);
