// SPDX-License-Identifier: Apache-2.0
/* c_int.c - C's own integer types, with their words in any order. */
#include "c_int.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "model/type.h"

enum word { CHAR, SHORT, INT, LONG, SIGNED, UNSIGNED, WORDS };

static const char *const words[WORDS] = {"char", "short", "int", "long", "signed", "unsigned"};

/* Counts the words. Returns false if there is another word, or none. */
static bool read_words(const char *p, unsigned n[WORDS])
{
	bool any = false;

	for (p += strspn(p, " "); *p; any = true) {
		size_t len = strcspn(p, " ");
		int w = 0;

		while (w < WORDS && (strlen(words[w]) != len || memcmp(words[w], p, len) != 0))
			w++;
		if (w == WORDS)
			return false;
		n[w]++;
		p += len;
		p += strspn(p, " ");
	}
	return any;
}

static bool are_one_type(const unsigned n[WORDS])
{
	return n[CHAR] <= 1 && n[SHORT] <= 1 && n[INT] <= 1 && n[LONG] <= 2 && n[SIGNED] + n[UNSIGNED] <= 1 &&
		!(n[CHAR] && (n[SHORT] || n[INT] || n[LONG])) && !(n[SHORT] && n[LONG]);
}

const struct type *c_int(struct arena *a, const char *name)
{
	unsigned n[WORDS] = {};
	bool is_signed;

	if (!strcmp(name, "_Bool"))
		return type_bool;
	if (!read_words(name, n) || !are_one_type(n))
		return NULL;
	is_signed = n[CHAR] && !n[SIGNED] ? CHAR_MIN < 0 : true;
	return type_c_int(a, n[CHAR] ? 1 : n[SHORT] ? 2 : n[LONG] ? 8 : 4, is_signed && !n[UNSIGNED],
		arena_strdup(a, name));
}
