// SPDX-License-Identifier: Apache-2.0
/* attach_point.h - one attach point of a script. The parser makes it, and its provider expands it to
 * places. */
#pragma once
#include <stdbool.h>

#include "base/source.h"

struct place;
struct provider;

/* All members live in the script's arena. */
struct attach_point {
	struct span span;
	struct attach_point *next; /* next one of the same probe */
	const char *text;      /* as the script has it */
	const char **words;    /* parts of the text between ':', without quotes, $N replaced */
	struct span *word_spans;
	unsigned nwords;
	const struct provider *provider; /* set by resolve */
	bool wants_args, wants_retval;   /* set by resolve: see struct request */
	struct place *places;            /* a list, set by resolve */
	unsigned nplaces;
	void *data;                      /* owned by the provider */
};
