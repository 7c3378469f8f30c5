// SPDX-License-Identifier: Apache-2.0
/* source.h - the text of a script, and positions in it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A range of bytes from start up to, but not including, end; both count from the start of the source. Line
 * and column are computed when a message is printed. */
struct span {
	uint32_t start, end;
};

struct arena;

/* The size limit of a script. */
#define SOURCE_MAX (16u << 20)

/* The text of imported files follows the script's own text. The body of a macro has additional spans for
 * each use, which begin at SOURCE_USES. */
#define SOURCE_USES (1u << 28)

struct source_file {
	const char *name;
	const char *real;    /* absolute path without symbolic links */
	uint32_t start, len; /* the file's range in the text */
};

struct source_use {
	uint32_t start, len; /* the range of the spans */
	uint32_t body;       /* start of the macro's body in the text */
	struct span from;    /* the use of the macro */
};

struct source {
	const char *name; /* "script.bt", "stdin", "-e" */
	const char *real; /* absolute path of the file, without symbolic links; NULL if the source is not a file */
	const char *text; /* NUL terminated */
	size_t len;
	struct source_file *files; /* the imported files */
	unsigned nfiles;
	struct source_use *uses;   /* sorted by start */
	unsigned nuses;
};

/* The file and text position of a byte of a span. */
struct source_spot {
	const char *name;          /* name of the file */
	uint32_t at;               /* position in the text */
	uint32_t start, end;       /* the file's range in the text */
	const struct source_use *use; /* the use of the macro whose body contains the byte, or NULL */
};

struct source_spot source_spot(const struct source *s, uint32_t at);
/* Appends a file's text. Returns the start of its spans, or 0 if there is no space. */
uint32_t source_add_file(
	struct arena *a, struct source *s, const char *name, const struct source *file);
/* Adds spans for another use of the text of `body`. Returns their start, or 0 if there are too many. */
uint32_t source_add_use(struct arena *a, struct source *s, struct span body, struct span from);
/* Returns the use that is not in a macro itself; for a span outside of macros, the span. */
struct span source_outermost(const struct source *s, struct span at);

/* A position in the text; {} at first. Moving it takes time in proportion to the distance. */
struct source_cursor {
	uint32_t at, line_start; /* in bytes */
	uint32_t file;           /* start of the current file */
	unsigned lines;          /* number of lines before this one */
};

void source_move(const struct source *s, struct source_cursor *c, uint32_t at);
/* Computes line and column of a byte in its file, both from 1. Takes time in proportion to the distance
 * from the start. */
void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col);

/* Reads a file, or stdin for "-", into the arena. Returns 0 on success, -EFBIG if it is larger than
 * SOURCE_MAX, another -errno on other failures. */
int source_read(struct arena *a, const char *path, struct source *ret);
/* Does the same for regular files only, so that it never waits for a fifo. Returns -ENOEXEC for other
 * files. */
int source_read_regular(struct arena *a, const char *path, struct source *ret);
