// SPDX-License-Identifier: Apache-2.0
/* demangle.c - demangled names of functions.
 *
 * C++'s runtime has the demangler. It is loaded when the first mangled name appears; without it, names stay
 * mangled. Rust's older scheme is C++'s with a hash at the end. */
#include "demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/library.h"

#define NAME_MAX_MANGLED 4096 /* the demangler recurses: longer, hostile names stay mangled */
#define RUST_HASH        "::h0123456789abcdef"

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

static void drop_rust_hash(char *s)
{
	size_t n = strlen(s), tail = strlen(RUST_HASH);

	if (n > tail && !strncmp(s + n - tail, "::h", 3) &&
		strspn(s + n - tail + 3, "0123456789abcdef") == tail - 3)
		s[n - tail] = '\0';
}

static bool is_off;

void demangle_enable(bool on)
{
	is_off = !on;
}

char *demangle(const char *name)
{
	demangle_fn fn;
	int status = -1;
	char *out;

	if (is_off || strncmp(name, "_Z", 2) || strlen(name) > NAME_MAX_MANGLED)
		return NULL;
	fn = cxa_demangle();
	out = fn ? fn(name, NULL, NULL, &status) : NULL;
	if (out)
		drop_rust_hash(out);
	return out;
}
