// SPDX-License-Identifier: Apache-2.0
/* line.c - decides whether a line typed at a prompt is a script, which begins with an attach point or a
 * definition, or statements. */
#include <ctype.h>
#include <string.h>

#include "model/provider.h"
#include "parse.h"

static const char *skip_blanks(const char *p)
{
	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (p[0] == '/' && p[1] == '/')
			p += strcspn(p, "\n");
		else if (p[0] == '/' && p[1] == '*' && strstr(p + 2, "*/"))
			p = strstr(p + 2, "*/") + 2;
		else
			return p;
	}
}

static size_t word_len(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

static bool begins_definition(const char *p, size_t n)
{
	static const char *const words[] = {"macro", "import", "config", "struct", "union", "enum", "typedef"};
	const char *after = skip_blanks(p + n);

	if (*p == '#')
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && !strncmp(p, words[i], n))
			return *after && *after != '.' && *after != '(';
	return n == 3 && !strncmp(p, "let", 3) && *after == '@';
}

bool line_is_statements(const char *text, const struct provider *const *providers)
{
	const char *p = skip_blanks(text), *after;
	size_t n = word_len(p);

	if (begins_definition(p, n))
		return false;
	if (!n || !provider_by_name(providers, p, n))
		return true;
	after = skip_blanks(p + n);
	return !*after || !strchr(":{/,", *after);
}
