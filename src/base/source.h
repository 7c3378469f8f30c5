// SPDX-License-Identifier: Apache-2.0
/* source.h - the text of a script, and places in it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Half open, in bytes from the start of the source. Line and column are worked
 * out when a message is printed. */
struct span {
	uint32_t start, end;
};

struct arena;

/* More is no script, and offsets are 32 bits. */
#define SOURCE_MAX (16u << 20)

struct source {
	const char *name; /* "script.bt", "stdin", "-e" */
	const char *text; /* NUL terminated */
	size_t len;
};

/* Line and column of a byte, both from 1. */
void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col);

/* A file's text, "-" for stdin; 0 or -errno. */
int source_read(struct arena *a, const char *path, struct source *ret);
