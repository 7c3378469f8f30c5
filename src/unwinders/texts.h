// SPDX-License-Identifier: Apache-2.0
/* texts.h - texts that many names share, each kept once. */
#pragma once
#include <stddef.h>

struct texts;

struct texts *texts_new(void); /* NULL: no memory */
void texts_free(struct texts *t);
size_t texts_bytes(const struct texts *t);
/* Returns the one copy of the text, which lives as long as t. */
const char *texts_keep(struct texts *t, const char *text);
