// SPDX-License-Identifier: Apache-2.0
/* demangle.c - demangled names of functions.
 *
 * C++'s runtime has the demangler. It is loaded when the first mangled name appears; without it, names stay
 * mangled. Rust's older scheme is C++'s with escapes, and a hash at the end. */
#include "demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/owner.h"
#include "base/str.h"
#include "rust_name.h"

#define NAME_MAX_MANGLED 4096 /* the demangler recurses: longer, hostile names stay mangled */

typedef char *(*demangle_fn)(const char *name, char *buf, size_t *len, int *status);

static demangle_fn cxa_demangle(void)
{
	static demangle_fn fn;
	static bool tried;
	void *lib;

	if (tried)
		return fn;
	tried = true;
	lib = library_open("libstdc++.so.6");
	if (!lib)
		lib = library_open("libc++abi.so.1");
	if (lib)
		fn = (demangle_fn)(uintptr_t)library_symbol(lib, "__cxa_demangle");
	return fn;
}

/* Link time optimisation gives a local function a name that is unique: f.llvm.123. Returns the name without that, to be
 * free()d, or NULL if it has none. Suffixes that say something, such as .cold, stay. */
static char *without_number(const char *name)
{
	const char *llvm = strstr(name, ".llvm."), *end = llvm ? llvm + 6 + strspn(llvm + 6, "0123456789") : NULL;
	struct str text = {};

	if (!llvm || (*end && *end != '.'))
		return NULL;
	str_addf(&text, "%.*s%s", (int)(llvm - name), name, end);
	return text.data;
}

/* Appends the suffix of a Rust name, such as .cold, in the form in which C++'s demangler shows it. */
static char *with_suffix(struct str *text, const char *name)
{
	const char *dot = strchr(name, '.');

	if (dot)
		str_addf(text, " [clone %s]", dot);
	return text->data;
}

static char *demangle_rust(const char *name)
{
	struct str text = {};

	return rust_name(name, &text) ? with_suffix(&text, name) : (str_done(&text), NULL);
}

static char *demangle_cpp(const char *name)
{
	demangle_fn fn = cxa_demangle();
	int status = -1;
	char *out = fn ? fn(name, NULL, NULL, &status) : NULL;

	if (out)
		rust_old_name(out);
	return out;
}

static bool is_off;

void demangle_enable(bool on)
{
	is_off = !on;
}

char *demangle(const char *name)
{
	_cleanup_(freep) char *proper = NULL;
	size_t n = strlen(name);

	if (is_off || n > NAME_MAX_MANGLED)
		return NULL;
	proper = without_number(name);
	if (proper)
		name = proper;
	if (!strncmp(name, "_R", 2))
		return demangle_rust(name);
	if (!strncmp(name, "_Z", 2))
		return demangle_cpp(name);
	return proper ? TAKE(proper) : NULL;
}
