// SPDX-License-Identifier: Apache-2.0
/* startup.c - see startup.h. A stack belongs to the start if it is whole, and all of its functions are of the loader,
 * the C library or the library of C++, such as ld.so's lists and the pool for exceptions. Data of locales and buffers
 * of a FILE are recognised by glibc's functions (2.36), whoever needed them first. */
#include "startup.h"

#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "show.h"
#include "unwinders/unwinders.h"

static bool is_of_libc(const struct frame_name *f)
{
	static const char *const names[] = {"libc.so*", "libc-*", "ld-*", "ld.so*", "libstdc++.so*", "libpthread*"};
	const char *slash = f->module ? strrchr(f->module, '/') : NULL, *base = slash ? slash + 1 : f->module;

	if (f->name && !strcmp(f->name, "_start"))
		return true;
	for (size_t i = 0; base && i < ARRAY_SIZE(names); i++)
		if (glob_match(names[i], base))
			return true;
	return false;
}

/* Functions whose memory the C library keeps, whoever calls them. _dl_allocate_tls is not one of them: a thread that is
 * never joined keeps it. */
static bool is_kept(const struct frame_name *f)
{
	static const char *const names[] = {
		"_IO_*doallocate", "setlocale", "textdomain", "bindtextdomain", "set_binding_values*", "_nl_*",
		"_dl_map_object*", "_dl_new_object", "dl_open_worker*", "_dl_check_map_versions",
	};

	for (size_t i = 0; f->name && i < ARRAY_SIZE(names); i++)
		if (glob_match(names[i], f->name))
			return true;
	return false;
}

bool startup_stack(const struct show *s, uint64_t id)
{
	const uint64_t *frames;
	enum unwind_end end;
	ssize_t n = id && s->unwinders ? unwinders_stack(s->unwinders, id, &frames, &end) : 0;

	for (ssize_t i = 0; i < n; i++) {
		struct frame_name f;

		unwinders_name(s->unwinders, frames[i], &f);
		if (!is_of_libc(&f))
			return false;
		for (const struct frame_name *g = &f; g; g = g->caller) /* functions into which it was inlined */
			if (is_kept(g))
				return true;
	}
	return n > 0 && end == UNWIND_COMPLETE;
}
