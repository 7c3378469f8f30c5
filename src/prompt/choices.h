// SPDX-License-Identifier: Apache-2.0
/* choices.h - what TAB offers. */
#pragma once
#include <stddef.h>

#include "base/vec.h"

struct str;

struct choices { /* zeroed, then */
	VEC(char *) texts; /* owned; whole words, sorted */
	size_t replaces;   /* bytes before the cursor that a choice stands for */
	size_t left_out;   /* further ones */
};

void choices_add(struct choices *c, const char *text);
void choices_done(struct choices *c);
/* How many bytes all have in common; there is one at least. */
size_t choices_common(const struct choices *c);
/* In columns, as ls prints them, at most so many rows; then how many more there are. */
void choices_list(const struct choices *c, unsigned columns, unsigned rows, struct str *out);
