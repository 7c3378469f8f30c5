// SPDX-License-Identifier: Apache-2.0
/* nearest.c - "did you mean": the edit distance, where swapping two neighbours is one edit and a
 * change of case half an edit. */
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

/* In halves: an edit is 2, a change of case 1. A swap is 1, too, for it is the likelier mistake of
 * two that are as near. */
static unsigned cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

/* The characters that the text has, as bits, without regard to case. */
static uint64_t characters(const char *text)
{
	uint64_t set = 0;

	for (; *text; text++)
		set |= 1ULL << (tolower((unsigned char)*text) & 63);
	return set;
}

/* The distance is not less: each character that only one text has is an edit, and so is each that it is longer. */
static unsigned least_distance(uint64_t a, size_t la, uint64_t b, size_t lb)
{
	unsigned only_a = (unsigned)__builtin_popcountll(a & ~b), only_b = (unsigned)__builtin_popcountll(b & ~a);
	unsigned longer = (unsigned)(la > lb ? la - lb : lb - la), edits = only_a > only_b ? only_a : only_b;

	return 2 * (edits > longer ? edits : longer);
}

static unsigned distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned rows[3][NAME_MAX_LEN + 1]; /* before last, last, this */
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
	/* One edit for each three letters, at least one; a name of one letter is like no other. */
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
