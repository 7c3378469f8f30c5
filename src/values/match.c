// SPDX-License-Identifier: Apache-2.0
/* match.c - compares frames with patterns. See match.h. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "frames.h"
#include "model/type.h"

/* "(anonymous namespace)::f" has no parameters. */
size_t frame_bare_length(const struct frame_name *f)
{
	const char *name = f->name, *end = strrchr(name, ')'), *at = end;
	int depth = 0;

	if (f->lang != FRAME_LANG_NATIVE || !end || end[1] == ':')
		return strlen(name);
	for (; at > name; at--) {
		depth += (*at == ')') - (*at == '(');
		if (!depth)
			break;
	}
	return at > name ? (size_t)(at - name) : strlen(name);
}

static bool matches_bare(const struct frame_name *f, const char *pattern)
{
	size_t n = frame_bare_length(f);
	_cleanup_(freep) char *bare = NULL;

	if (!f->name[n])
		return false;
	bare = strndup(f->name, n);
	if (!bare)
		out_of_memory();
	return glob_match(pattern, bare);
}

/* Appends "json.decoder.py_scanstring" for py_scanstring in .../json/decoder.py; a package is its __init__.py. */
static void add_dotted(const struct frame_name *f, struct str *out)
{
	size_t n = strlen(f->file);

	n -= n > 3 && !strcmp(f->file + n - 3, ".py") ? 3 : 0;
	n -= n > 9 && !strncmp(f->file + n - 9, "/__init__", 9) ? 9 : 0;
	for (size_t i = 0; i < n; i++)
		str_addc(out, f->file[i] == '/' ? '.' : f->file[i]);
	str_addc(out, '.');
	str_add(out, f->name);
}

static bool matches_dotted(const struct frame_name *f, const char *pattern)
{
	_cleanup_(str_done) struct str dotted = {};
	bool found = false;

	if (!strchr(pattern, '.') || !f->file)
		return false;
	add_dotted(f, &dotted);
	for (const char *at = str_text(&dotted); at && !found; at = strchr(at, '.')) {
		at += *at == '.';
		found = glob_match(pattern, at);
	}
	return found;
}

static bool matches_module(const struct frame_name *f, const char *pattern)
{
	const char *path = f->module ? f->module : f->file, *slash = path ? strrchr(path, '/') : NULL;

	return path && (glob_match(pattern, path) || (slash && glob_match(pattern, slash + 1)));
}

bool frame_matches(const struct frame_name *f, const struct frame_pattern *p)
{
	const char *jit = frames_jit_name(f);
	bool found;

	if (p->module && !matches_module(f, p->module))
		return false;
	if (!f->name)
		return jit && glob_match(p->func, jit);
	found = glob_match(p->func, f->name);
	if (!found)
		found = matches_bare(f, p->func);
	if (!found && f->lang == FRAME_LANG_PYTHON)
		found = matches_dotted(f, p->func);
	return found;
}

bool frames_match(const struct frame_list *l, const struct frame_pattern *p)
{
	bool found = false;

	for (size_t i = 0; i < l->len && !found; i++)
		found = frame_matches(&l->data[i].name, p);
	return found;
}
