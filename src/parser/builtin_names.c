// SPDX-License-Identifier: Apache-2.0
/* builtin_names.c - finds builtins by name. */
#include "builtin_names.h"

#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "base/owner.h"
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

/* Returns the name in strata of a feature of DTrace or SystemTap. */
static const char *name_elsewhere(const char *written)
{
	static const char *const names[][2] = {
		{"execname", "comm"}, {"timestamp", "nsecs"}, {"gettimeofday_ns", "nsecs"}, {"curthread", "curtask"},
		{"copyinstr", "str"}, {"user_string", "str"}, {"kernel_string", "str"}, {"stringof", "str"},
		{"copyin", "buf"}, {"tracemem", "buf"}, {"trace", "print"}, {"probefunc", "func"}, {"ppfunc", "func"},
		{"probename", "probe"}, {"quantize", "hist"}, {"lquantize", "lhist"}, {"stack", "kstack"},
		{"print_backtrace", "kstack"}, {"jstack", "ustack"}, {"print_ubacktrace", "ustack"}, {"uregs", "reg"},
		{"self", "@NAME[tid]"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(written, names[i][0]))
			return names[i][1];
	return NULL;
}

void hint_builtin(
	struct diags *d, struct arena *a, const struct language *l, const char *written)
{
	const char **names, *elsewhere = name_elsewhere(written);
	size_t n = 0;

	if (elsewhere) {
		diag_hint(d, "did you mean %s?", elsewhere);
		return;
	}
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
