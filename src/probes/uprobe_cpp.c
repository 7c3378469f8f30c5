// SPDX-License-Identifier: Apache-2.0
/* uprobe_cpp.c - matches functions by C++ names. */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "uprobe.h"

/* Returns the start of the list of parameters: the last parenthesis outside of <>, or the end. */
static size_t name_len(const char *demangled)
{
	size_t len = strlen(demangled), open = len;
	int depth = 0;

	for (size_t i = len; i-- > 0;) {
		if (demangled[i] == ')')
			depth++;
		else if (demangled[i] == '(' && --depth == 0)
			return i;
	}
	return open;
}

/* A template function has its result before its name, and a space outside of <> separates them. */
static const char *behind_result(const char *demangled, size_t len)
{
	const char *start = demangled;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		depth += (demangled[i] == '<') - (demangled[i] == '>');
		if (demangled[i] == ' ' && depth == 0)
			start = demangled + i + 1;
	}
	return start;
}

bool uprobe_is_cpp(struct arena *a, const char *pattern, const char *symbol, const char *demangled)
{
	const char *name;
	size_t n;

	if (glob_match(pattern, symbol))
		return true;
	if (!demangled)
		return false;
	n = name_len(demangled);
	name = behind_result(demangled, n);
	return glob_match(pattern, demangled) || glob_match(pattern, name) ||
	       glob_match(pattern, arena_strndup(a, name, demangled + n - name)) ||
	       glob_match(pattern, arena_strndup(a, demangled, n));
}
