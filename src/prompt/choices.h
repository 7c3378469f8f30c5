// SPDX-License-Identifier: Apache-2.0
/* choices.h - the words that TAB offers. */
#pragma once
#include <stddef.h>

#include "base/vec.h"

struct str;

struct choices { /* zeroed at first */
	VEC(char *) texts; /* owned; whole words, sorted */
	size_t replaces;   /* bytes before the cursor that a choice replaces */
	size_t left_out;   /* number of further choices */
};

void choices_add(struct choices *c, const char *text);
void choices_done(struct choices *c);
/* Returns the number of bytes that all choices have in common. There is at least one choice. */
size_t choices_common(const struct choices *c);
/* Writes the choices in columns, like ls, in at most `rows` rows, then the number of further ones. */
void choices_list(const struct choices *c, unsigned columns, unsigned rows, struct str *out);
