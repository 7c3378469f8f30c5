// SPDX-License-Identifier: Apache-2.0
/* source.h - the text of a script, and positions in it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* From start up to, not including, end; in bytes from the start of the source. Line and column are
 * computed when a message is printed. */
struct span {
	uint32_t start, end;
};

struct arena;

/* The largest script that is read. */
#define SOURCE_MAX (16u << 20)

/* The files that a script imports follow it in its text. The body of a macro has spans of its own for
 * each use, from SOURCE_USES on. */
#define SOURCE_USES (1u << 28)

struct source_file {
	const char *name;
	const char *real;    /* absolute, without links */
	uint32_t start, len; /* in the text */
};

struct source_use {
	uint32_t start, len; /* of the spans */
	uint32_t body;       /* where the text begins that they stand for */
	struct span from;    /* of the use */
};

struct source {
	const char *name; /* "script.bt", "stdin", "-e" */
	const char *real; /* the file's absolute path without links; NULL: it is none */
	const char *text; /* NUL terminated */
	size_t len;
	struct source_file *files; /* imported */
	unsigned nfiles;
	struct source_use *uses;   /* by start */
	unsigned nuses;
};

/* Where a byte of a span is. */
struct source_spot {
	const char *name;          /* of the file */
	uint32_t at;               /* in the text */
	uint32_t start, end;       /* of the file, in the text */
	const struct source_use *use; /* of a macro, whose body it is in; or NULL */
};

struct source_spot source_spot(const struct source *s, uint32_t at);
/* Appends a file's text; the start of its spans, 0: there is no space. */
uint32_t source_add_file(
	struct arena *a, struct source *s, const char *name, const struct source *file);
/* Spans for another use of the text of `body`; the start of them, 0: there are too many. */
uint32_t source_add_use(struct arena *a, struct source *s, struct span body, struct span from);
/* The use outside of all macros: the span itself where it is in none. */
struct span source_outermost(const struct source *s, struct span at);

/* A position in the text, {} at first. To move it takes time by the distance. */
struct source_cursor {
	uint32_t at, line_start; /* bytes */
	uint32_t file;           /* where it starts */
	unsigned lines;          /* before this one */
};

void source_move(const struct source *s, struct source_cursor *c, uint32_t at);
/* Line and column of a byte in its file, both from 1; takes time by its distance from the start. */
void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col);

/* Reads a file, "-" for stdin, into the arena; 0 or -errno, -EFBIG beyond SOURCE_MAX. */
int source_read(struct arena *a, const char *path, struct source *ret);
/* The same for a regular file only (-ENOEXEC): one that is named where a fifo must not be waited for. */
int source_read_regular(struct arena *a, const char *path, struct source *ret);
