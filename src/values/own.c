// SPDX-License-Identifier: Apache-2.0
/* own.c - see own.h. */
#include "own.h"

#include "base/owner.h"
#include "base/str.h"
#include "frames.h"

bool own_is_library(const char *path)
{
	static const char *const places[] = {
		"/usr/*", "/lib*", "*/lib/python*", "*/site-packages/*", "*/node_modules/*", "*/vendor/*",
		"*/go/pkg/mod/*", "*/.rustup/*", "*/.cargo/*", "*/nvm/*", "*/.pyenv/*", "*/bin/python*", "*/bin/node",
		"*/bin/php*", "node:*", "<*", "[*", "*.so", "*.so.*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (glob_match(places[i], path))
			return true;
	return false;
}

/* The JDK's packages: a Java frame has no path. */
static bool is_jdk(const struct frame_name *f)
{
	static const char *const packages[] = {"java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*", "<*"};

	for (size_t i = 0; f->lang == FRAME_LANG_JAVA && f->name && i < ARRAY_SIZE(packages); i++)
		if (glob_match(packages[i], f->name))
			return true;
	return false;
}

static bool has_source(const struct shown_frame *f)
{
	enum frame_lang lang = f->name.lang;

	return f->name.file && lang != FRAME_LANG_NATIVE && lang != FRAME_LANG_KERNEL && lang != FRAME_LANG_ADDRESS;
}

/* The libraries of C++ and Rust are compiled into the program. */
static bool is_of_language(const char *name)
{
	static const char *const patterns[] = {
		"std::*", "void std::*", "__gnu_cxx::*", "core::*", "alloc::*", "<core::*", "<alloc::*", "<std::*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (glob_match(patterns[i], name))
			return true;
	return false;
}

bool own_is_interpreted(const struct frame_list *l)
{
	for (size_t i = 0; i < l->len; i++)
		if (has_source(&l->data[i]))
			return true;
	return false;
}

bool own_is_frame(const struct shown_frame *f, bool interpreted)
{
	const struct frame_name *n = &f->name;

	if (!n->name || n->lang == FRAME_LANG_KERNEL || (interpreted && !has_source(f)))
		return false;
	if (has_source(f))
		return !own_is_library(n->file) && !is_jdk(n);
	return n->module && !own_is_library(n->module) && !is_of_language(n->name);
}

const struct shown_frame *own_frame(const struct frame_list *l)
{
	bool interpreted = own_is_interpreted(l);

	for (size_t i = 0; i < l->len; i++)
		if (own_is_frame(&l->data[i], interpreted))
			return &l->data[i];
	for (size_t i = 0; i < l->len; i++)
		if (l->data[i].name.name && l->data[i].name.lang != FRAME_LANG_KERNEL)
			return &l->data[i];
	return NULL;
}
