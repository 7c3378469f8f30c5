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

struct source {
	const char *name; /* "script.bt", "stdin", "-e" */
	const char *text; /* NUL terminated */
	size_t len;
};

/* A position in the text, {} at first. To move it takes time by the distance. */
struct source_cursor {
	uint32_t at, line_start; /* bytes */
	unsigned lines;          /* before this one */
};

void source_move(const struct source *s, struct source_cursor *c, uint32_t at);
/* Line and column of a byte, both from 1; takes time by its distance from the start. */
void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col);

/* Reads a file, "-" for stdin, into the arena; 0 or -errno, -EFBIG beyond SOURCE_MAX. */
int source_read(struct arena *a, const char *path, struct source *ret);
