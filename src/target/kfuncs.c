// SPDX-License-Identifier: Apache-2.0
/* kfuncs.c - names of the kernel's functions.
 *
 * tracefs has a list of what ftrace can trace; only those functions can be probed by the thousand.
 * Without ftrace the names come from kallsyms. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/priv.h"

#define LIST_MAX (256u << 20)

/* Cuts "nft_do_chain [nf_tables]" in two; the module, "" for "vfs_read". */
static const char *cut_module(char *line)
{
	char *space = strpbrk(line, " \t"), *module;

	if (!space)
		return "";
	*space = '\0';
	module = strchr(space + 1, '[');
	if (!module)
		return "";
	module[strcspn(module, "]")] = '\0';
	return module + 1;
}

/* The name in a line of kallsyms; NULL: it is no code. */
static char *symbol_name(char *line)
{
	char *kind = strchr(line, ' ');

	return kind && kind[1] && kind[2] == ' ' && strchr("tTwW", kind[1]) ? kind + 3 : NULL;
}

/* Is it a symbol made by the compiler or linker, which no script means? */
static bool is_internal(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6) || strchr(name, '$');
}

static int cmp_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the names and removes repeated ones. */
static void sort_unique(struct strings *s)
{
	size_t n = 0;

	if (s->len)
		qsort(s->list, s->len, sizeof(*s->list), cmp_names);
	for (size_t i = 0; i < s->len; i++)
		if (!n || strcmp(s->list[i], s->list[n - 1]) != 0)
			s->list[n++] = s->list[i];
	s->len = n;
}

static void take(struct target *t, struct strings *found, char *name, const char *module,
	const char *pattern)
{
	const char *in = cut_module(name);

	if (is_internal(name) || (*module && !glob_match(module, *in ? in : "vmlinux")) ||
		!glob_match(pattern, name))
		return;
	strings_add(t, found, name);
}

const char *const *target_kernel_functions(struct target *t, const char *module,
	const char *pattern, bool traceable)
{
	const char *tracefs = traceable ? target_tracefs(t) : NULL;
	_cleanup_(freep) char *text = NULL;
	struct strings found = {};
	bool symbols;
	char *rest, *line;

	if (tracefs)
		text = target_read(t, arena_printf(t->arena, "%s/available_filter_functions", tracefs),
			LIST_MAX, NULL);
	symbols = !text;
	if (symbols)
		text = target_read(t, "/proc/kallsyms", LIST_MAX, NULL);
	for (rest = text; rest && (line = strsep(&rest, "\n"));) {
		if (symbols)
			line = symbol_name(line);
		if (line && *line)
			take(t, &found, line, module, pattern);
	}
	sort_unique(&found);
	return strings_done(t, &found);
}
