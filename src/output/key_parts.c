// SPDX-License-Identifier: Apache-2.0
/* key_parts.c - see key_parts.h. */
#include "key_parts.h"

#include <string.h>

#include "base/str.h"

/* Returns the number of bytes up to a comma outside of brackets. */
static size_t piece(const char *text)
{
	int depth = 0;
	size_t n = 0;

	for (; text[n] && (depth || text[n] != ','); n++)
		depth += (strchr("([{", text[n]) != NULL) - (strchr(")]}", text[n]) != NULL);
	return n;
}

void key_part_name(const char *key_text, unsigned i, unsigned n, struct str *out)
{
	const char *name = NULL;
	size_t size = 0;
	unsigned count = 0;

	for (const char *p = key_text; p && *p; count++) {
		size_t len = piece(p), from = strspn(p, " \t\n"), end = len;

		while (end > from && strchr(" \t\n", p[end - 1]))
			end--;
		if (count == i && end > from) {
			name = p + from;
			size = end - from;
		}
		p += len + (p[len] == ',');
	}
	if (name && count == n)
		str_addn(out, name, size);
	else
		str_add(out, "key");
}
