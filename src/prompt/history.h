// SPDX-License-Identifier: Apache-2.0
/* history.h - lines typed in this prompt and in earlier ones, and the file that keeps them. */
#pragma once
#include <stddef.h>

#include "base/vec.h"
#include "prompt/libedit.h"

struct history {
	const struct libedit *lib;
	History *lines_of_libedit; /* NULL if history_open() failed */
	char *path;                /* NULL if lines are not kept */
	VEC(char *) lines;         /* oldest first */
};

/* path is the path of the file, which is created with its directories, or NULL. h is zeroed. Returns 0 on
 * success, -errno on failure. */
int history_open(struct history *h, const struct libedit *lib, const char *path);
/* Adds a line to the end, and to the file. Empty lines and repetitions of the last line are ignored. */
void history_add(struct history *h, const char *text);
/* Returns the rest of the newest history line that begins with these n bytes and has no newline in it, or
 * NULL if there is none. The rest lives until the next history_add(). */
const char *history_rest(const struct history *h, const char *text, size_t n);
void history_close(struct history *h);
