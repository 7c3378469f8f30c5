// SPDX-License-Identifier: Apache-2.0
/* import.c - `import "lib.bt";`: probes, macros, maps and C definitions of another file, each file once.
 *
 * A relative path is searched next to the importing file, then in the working directory. All *.bt, *.h and
 * *.bpf.c files of a directory are read. Code that root runs must not come from a place where anybody can
 * write, so a directory that all may write to is refused. */
#include "parse.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/regular.h"

enum { IMPORTS_MAX = 256 };

static void add_span(struct arena *a, struct span **list, unsigned *n, struct span span)
{
	struct span *more = arena_new_array(a, struct span, *n + 1);

	for (unsigned i = 0; i < *n; i++)
		more[i] = (*list)[i];
	more[(*n)++] = span;
	*list = more;
}

void c_part_add(struct script *s, struct span part)
{
	add_span(s->arena, &s->c_parts, &s->nc_parts, part);
}

void import_add(struct parse *p, struct span at, const struct expr *path)
{
	struct import *i = arena_new_obj(p->arena, struct import);

	i->path = path->string.text;
	i->span = at;
	*p->imports_end = i;
	p->imports_end = &i->next;
}

/* Returns the directory of a path, as written, with its '/', or "" for the working directory. */
static const char *directory(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strndup(a, path, (size_t)(slash + 1 - path)) : "";
}

/* Returns the path of the file: next to the importing file, or else in the working directory. */
static const char *find(struct parse *p, const struct import *i, struct stat *st)
{
	const char *beside = directory(p->arena, source_spot(p->source, i->span.start).name);
	const char *path = arena_printf(p->arena, "%s%s", i->path[0] == '/' ? "" : beside, i->path);

	if (!stat(path, st))
		return path;
	if (!stat(i->path, st))
		return i->path;
	diag(p->diags, i->span, DIAG_IMPORT, "there is no %s%s%s%s", path, *beside && i->path[0] != '/' ? ", nor " : "",
		*beside && i->path[0] != '/' ? i->path : "", errno == EACCES ? " that you may read" : "");
	return NULL;
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), len = strlen(end);

	return n > len && !strcmp(path + n - len, end);
}

static bool is_importable(const char *name)
{
	return ends_with(name, ".bt") || ends_with(name, ".h") || ends_with(name, ".bpf.c");
}

static bool was_read(const struct parse *p, const char *real)
{
	for (unsigned i = 0; i < p->source->nfiles; i++)
		if (p->source->files[i].real && !strcmp(p->source->files[i].real, real))
			return true;
	return p->source->real && !strcmp(p->source->real, real);
}

/* Returns whether only its owner can put the file there. */
static bool is_safe(struct parse *p, const struct import *i, const char *real)
{
	const char *dir = directory(p->arena, real);
	struct stat st;

	if (!stat(dir, &st) && (st.st_mode & S_IWOTH)) {
		diag(p->diags, i->span, DIAG_IMPORT, "%s is not imported: everybody can write to %s", real, dir);
		return false;
	}
	return true;
}

static void read_file(struct parse *p, const struct import *i, const char *path)
{
	_cleanup_(freep) char *real = realpath(path, NULL);
	struct source file = {};
	uint32_t start;
	int r;

	if (!real || was_read(p, real) || !is_safe(p, i, real))
		return;
	if (!is_importable(real)) {
		diag(p->diags, i->span, DIAG_IMPORT, "%s is not a script (.bt), a header (.h) or a program in C "
			"(.bpf.c)", path);
		return;
	}
	r = source_read_regular(p->arena, real, &file);
	if (r || p->source->nfiles == IMPORTS_MAX) {
		diag(p->diags, i->span, DIAG_IMPORT, r ? "%s cannot be read: %s" : "%s: too many files are imported",
			path, regular_why(r));
		return;
	}
	start = source_add_file(p->arena, p->source, path, &file);
	if (!start)
		diag(p->diags, i->span, DIAG_IMPORT, "%s: the script and what it imports is too long", path);
	else if (ends_with(real, ".h"))
		c_part_add(p->script, (struct span){start, start + (uint32_t)file.len});
	else if (ends_with(real, ".bpf.c"))
		add_span(p->arena, &p->script->c_programs, &p->script->nc_programs,
			(struct span){start, start + (uint32_t)file.len});
	else
		parse_file(p, (struct span){start, start + (uint32_t)file.len});
}

static int is_wanted(const struct dirent *e)
{
	return is_importable(e->d_name);
}

static void read_directory(struct parse *p, const struct import *i, const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, is_wanted, alphasort);

	if (n <= 0) {
		diag(p->diags, i->span, DIAG_IMPORT, n ? "%s cannot be read" :
			"there is no .bt, .h or .bpf.c file in %s", path);
		if (n < 0)
			return;
	}
	for (int k = 0; k < n; k++) {
		read_file(p, i, arena_printf(p->arena, "%s/%s", path, names[k]->d_name));
		free(names[k]);
	}
	free(names);
}

void import_all(struct parse *p, const struct import *first)
{
	for (const struct import *i = first; i; i = i->next) {
		struct stat st;
		const char *path = find(p, i, &st);

		if (path && S_ISDIR(st.st_mode))
			read_directory(p, i, path);
		else if (path && S_ISREG(st.st_mode))
			read_file(p, i, path);
		else if (path)
			diag(p->diags, i->span, DIAG_IMPORT, "%s is neither a file nor a directory", path);
	}
}
