// SPDX-License-Identifier: Apache-2.0
/* shell_word.c - see shell_word.h. */
#include "shell_word.h"

#include "base/str.h"

void shell_word(const char *word, struct str *out)
{
	str_add(out, out->len ? " '" : "'");
	for (; *word; word++)
		if (*word == '\'' || *word == '\\') /* fish reads a backslash in quotes, too */
			str_addf(out, "'\\%c'", *word);
		else
			str_addc(out, *word);
	str_addc(out, '\'');
}
