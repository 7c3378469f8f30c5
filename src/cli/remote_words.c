// SPDX-License-Identifier: Apache-2.0
/* remote_words.c - see remote_words.h. */
#include "remote_words.h"

#include "base/str.h"

void remote_word(const char *word, struct str *out)
{
	str_add(out, out->len ? " '" : "'");
	for (; *word; word++)
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_addc(out, *word);
	str_addc(out, '\'');
}
