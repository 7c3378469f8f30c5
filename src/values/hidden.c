// SPDX-License-Identifier: Apache-2.0
/* hidden.c - see hidden.h. */
#include "hidden.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "unwinders/unwinders.h"

enum { NAME_MAX_MATCHED = 255 };

static bool matches_path(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *so = strstr(base, ".so");
	char stem[NAME_MAX_MATCHED + 1];
	size_t n = so ? (size_t)(so - base) : 0;

	if (glob_match(pattern, path) || glob_match(pattern, base))
		return true;
	if (!n || n > NAME_MAX_MATCHED)
		return false;
	memcpy(stem, base, n);
	stem[n] = 0;
	return glob_match(pattern, stem);
}

static bool matches(const char *pattern, const struct frame_name *f)
{
	return (f->module && matches_path(pattern, f->module)) || (f->file && matches_path(pattern, f->file));
}

bool libraries_hide(const struct libraries *l, const struct frame_name *f)
{
	bool wanted = !l->only.len;

	for (size_t i = 0; i < l->hidden.len; i++)
		if (matches(l->hidden.data[i], f))
			return true;
	for (size_t i = 0; i < l->only.len; i++)
		wanted |= matches(l->only.data[i], f);
	return !wanted;
}

void libraries_done(struct libraries *l)
{
	vec_done(&l->hidden);
	vec_done(&l->only);
}
