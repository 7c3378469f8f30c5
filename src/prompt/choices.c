// SPDX-License-Identifier: Apache-2.0
/* choices.c - a list of words for completion, and their common beginning. */
#include "choices.h"

#include <string.h>

#include "base/str.h"

void choices_add(struct choices *c, const char *text)
{
	vec_push(&c->texts, strdup(text));
}

void choices_done(struct choices *c)
{
	for (size_t i = 0; i < c->texts.len; i++)
		free(c->texts.data[i]);
	vec_done(&c->texts);
}

size_t choices_common(const struct choices *c)
{
	size_t n = strlen(c->texts.data[0]);

	for (size_t i = 1; i < c->texts.len; i++) {
		size_t k = 0;

		while (k < n && c->texts.data[i][k] == c->texts.data[0][k])
			k++;
		n = k;
	}
	return n;
}

void choices_list(const struct choices *c, unsigned columns, unsigned rows, struct str *out)
{
	size_t shown = c->texts.len, width = 0, across, down;

	for (size_t i = 0; i < c->texts.len; i++)
		width = strlen(c->texts.data[i]) > width ? strlen(c->texts.data[i]) : width;
	across = columns / (width + 2) ? columns / (width + 2) : 1;
	shown = shown > across * rows ? across * rows : shown;
	down = (shown + across - 1) / across;
	for (size_t row = 0; row < down; row++)
		for (size_t i = row; i < shown; i += down) {
			bool last = i + down >= shown;

			str_addf(out, "%-*s%s", last ? 0 : (int)width + 2, c->texts.data[i], last ? "\n" : "");
		}
	if (c->texts.len + c->left_out > shown)
		str_addf(out, "... and %zu more\n", c->texts.len + c->left_out - shown);
}
