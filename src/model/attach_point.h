// SPDX-License-Identifier: Apache-2.0
/* attach_point.h - one attach point of a script: made by the parser, expanded to places by its
 * provider. */
#pragma once
#include "base/source.h"

struct place;
struct provider;

/* Everything is in the script's arena. */
struct attach_point {
	struct span span;
	struct attach_point *next; /* of the same probe */
	const char *text;      /* as written */
	const char **words;    /* split at ':' outside quotes, quotes taken off, $N put in */
	struct span *word_spans;
	unsigned nwords;
	const struct provider *provider; /* by resolve */
	struct place *places;            /* by resolve; list */
	unsigned nplaces;
	void *data;                      /* the provider's */
};
