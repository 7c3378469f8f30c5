// SPDX-License-Identifier: Apache-2.0
/* history.h - the lines that were typed, in this prompt and in earlier ones, and the file that keeps them. */
#pragma once
#include <stddef.h>

#include "base/vec.h"
#include "prompt/libedit.h"

struct history {
	const struct libedit *lib;
	History *lines_of_libedit; /* NULL: history_open() failed */
	char *path;                /* NULL: not kept */
	VEC(char *) lines;         /* oldest first */
};

/* path: of the file, which is made with its directories; or NULL. h is zeroed. 0 or -errno. */
int history_open(struct history *h, const struct libedit *lib, const char *path);
/* Adds a line to the end, in the file too; not an empty one, nor the last one again. */
void history_add(struct history *h, const char *text);
/* The rest of the newest line that begins with these n bytes and is one line; NULL: there is none. It lives
 * until the next history_add(). */
const char *history_rest(const struct history *h, const char *text, size_t n);
void history_close(struct history *h);
