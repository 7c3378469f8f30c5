// SPDX-License-Identifier: Apache-2.0
/* cpart_includes.c - refuses to include devices and pipes before clang opens them: they have no end, or
 * wait for a writer. */
#include "cpart.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/diag.h"

/* Returns whether the path exists and is neither a file nor a directory. */
static bool is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static const char *in_dir(struct cpart *c, const char *dir, size_t len, const char *name)
{
	return arena_printf(c->arena, "%.*s/%s", (int)len, dir, name);
}

/* Returns the device that clang may open for the name, or NULL if there is none. */
static const char *find_device(struct cpart *c, const char *name)
{
	const char *slash = strrchr(c->file, '/');
	const char *beside = *name == '/' ? name : in_dir(c, c->file, (size_t)(slash - c->file), name);

	if (is_device(beside))
		return beside;
	if (is_device(name))
		return name;
	for (unsigned i = 0; i < c->options->ndirs; i++) {
		const char *path = in_dir(c, c->options->dirs[i], strlen(c->options->dirs[i]), name);

		if (is_device(path))
			return path;
	}
	return NULL;
}

/* Returns the name in `#include "name"` or `#include <name>`, or NULL for other lines. */
static const char *included(struct cpart *c, const char *line)
{
	static const char word[] = "include";
	size_t n;

	line += strspn(line, " \t");
	if (*line++ != '#')
		return NULL;
	line += strspn(line, " \t");
	if (strncmp(line, word, strlen(word)))
		return NULL;
	line += strlen(word);
	line += strspn(line, " \t");
	if (*line != '"' && *line != '<')
		return NULL;
	n = strcspn(line + 1, *line == '<' ? ">\r\n" : "\"\r\n");
	return arena_strndup(c->arena, line + 1, n);
}

bool cpart_includes_files(struct cpart *c)
{
	const char *text = c->source->text, *path;
	bool ok = true;

	for (uint32_t at = c->part.start, end; at < c->part.end; at = end + 1) {
		const char *name = included(c, text + at);

		end = at + (uint32_t)strcspn(text + at, "\n");
		if (name && !c->included && cpart_is_kernel_header(name))
			c->included = name;
		path = name ? find_device(c, name) : NULL;
		if (path)
			ok = diag(c->diags, (struct span){at, end}, DIAG_C, "%s is not a file", path);
	}
	for (unsigned i = 0; i < c->options->nfiles; i++)
		if (is_device(c->options->files[i]))
			ok = diag(c->diags, (struct span){}, DIAG_C, "--include: %s is not a file",
				c->options->files[i]);
	return ok;
}
