// SPDX-License-Identifier: Apache-2.0
/* nearest.c - "did you mean": an edit distance in which a swap of two neighbours is one edit, and a change
 * of case is half an edit. */
#include "diag.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { NAME_MAX_LEN = 63 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Costs are in half edits: an edit costs 2, a change of case 1. A swap costs 1, too, since it is the more
 * likely mistake. */
static unsigned cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

/* Returns the set of characters in the text as bits, ignoring case. */
static uint64_t characters(const char *text)
{
	uint64_t set = 0;

	for (; *text; text++)
		set |= 1ULL << (tolower((unsigned char)*text) & 63);
	return set;
}

/* Returns a lower bound of the distance: each character that only one text has is an edit, and so is each
 * character of additional length. */
static unsigned least_distance(uint64_t a, size_t la, uint64_t b, size_t lb)
{
	unsigned only_a = (unsigned)__builtin_popcountll(a & ~b), only_b = (unsigned)__builtin_popcountll(b & ~a);
	unsigned longer = (unsigned)(la > lb ? la - lb : lb - la), edits = only_a > only_b ? only_a : only_b;

	return 2 * (edits > longer ? edits : longer);
}

static unsigned distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned rows[3][NAME_MAX_LEN + 1]; /* the row before the last, the last row, this row */
	unsigned *older = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= lb; j++)
		last[j] = 2 * (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		row[0] = 2 * (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = min3(last[j] + 2, row[j - 1] + 2,
				last[j - 1] + cost(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1] && older[j - 2] + 1 < row[j])
				row[j] = older[j - 2] + 1;
		}
		spare = older;
		older = last;
		last = row;
		row = spare;
	}
	return last[lb];
}

const char *nearest(const char *written, const char *const *names, size_t n)
{
	size_t len = strlen(written);
	/* One edit is allowed for each three letters, but at least one. A name of one letter is not similar
	 * to any other. */
	unsigned best = len < 2 ? 1 : len < 6 ? 2 : 2 * (unsigned)(len / 3);
	uint64_t has = characters(written);
	const char *found = NULL;

	if (len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(names[i]);
		unsigned d;

		if (other > NAME_MAX_LEN)
			continue;
		if (!strcasecmp(names[i], written))
			return names[i];
		if (least_distance(has, len, characters(names[i]), other) > best)
			continue;
		d = distance(written, len, names[i], other);
		if (d < best || (d == best && !found)) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
