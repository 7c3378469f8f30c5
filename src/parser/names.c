// SPDX-License-Identifier: Apache-2.0
/* names.c - looking up what the language has beside its grammar. */
#include "names.h"

#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "model/builtin.h"
#include "model/provider.h"
#include "parser.h"

const struct builtin *builtin_find(const struct language *l, const char *name)
{
	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			if (!strcmp(b->name, name))
				return b;
	return NULL;
}

bool builtin_takes_words(const struct builtin *b)
{
	return strstr(b->sig, "word") || ((b->flags & BUILTIN_VAR) && b->sig[0] == '[');
}

void hint_nearest(struct diags *d, const char *prefix, const char *written,
	const char *const *names, size_t n)
{
	const char *near = nearest(written, names, n);

	if (near)
		diag_hint(d, "did you mean %s%s?", prefix, near);
}

void hint_builtin(
	struct diags *d, struct arena *a, const struct language *l, const char *written)
{
	const char **names;
	size_t n = 0;

	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			n++;
	names = arena_new_array(a, const char *, n + 1);
	n = 0;
	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			names[n++] = b->name;
	hint_nearest(d, "", written, names, n);
}

void hint_provider(
	struct diags *d, struct arena *a, const struct language *l, const char *written)
{
	const char **names;
	size_t n = 0;

	while (l->providers[n])
		n++;
	names = arena_new_array(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = l->providers[i]->name;
	hint_nearest(d, "", written, names, n);
}
