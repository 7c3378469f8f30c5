// SPDX-License-Identifier: Apache-2.0
/* source.c - names of functions in Lua: a function has none itself, but the line that defines it mostly gives one:
 * "function M.price(item)", "local function go()", "Shop.sell = function(self)". */
#include "names.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "unwinders/lang.h"

enum {
	SOURCE_MAX = 4 << 20, /* bytes of a file */
	NAME_LONGEST = 256,
};

struct lua_sources {
	struct sourcemap_files files;
	/* The file that was read last. */
	int pid;
	char *path, *text;
	size_t size;
};

struct lua_sources *lua_sources_new(void)
{
	return calloc(1, sizeof(struct lua_sources));
}

void lua_sources_free(struct lua_sources *s)
{
	if (!s)
		return;
	free(s->path);
	free(s->text);
	free(s);
}

void lua_sources_use(struct lua_sources *s, const struct sourcemap_files *files)
{
	s->files = *files;
}

/* ---- files ---- */

static void read_source(struct lua_sources *s, int pid, const char *path)
{
	_cleanup_(closep) int fd = s->files.open(s->files.arg, pid, path);
	struct stat st;
	ssize_t n = 0;

	s->size = 0;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX)
		return;
	s->text = malloc((size_t)st.st_size + 1);
	while (s->text && s->size < (size_t)st.st_size) {
		n = read(fd, s->text + s->size, (size_t)st.st_size - s->size);
		if (n <= 0)
			break;
		s->size += (size_t)n;
	}
}

/* Sets the text of a chunk. Returns its size; 0: unknown. */
static size_t text_of(struct lua_sources *s, int pid, const char *chunk, size_t size, const char **ret)
{
	_cleanup_(freep) char *path = NULL;

	*ret = chunk;
	if (!size || *chunk == '=')
		return 0;
	if (*chunk != '@')
		return size;
	path = strndup(chunk + 1, size - 1);
	if (!path || !s->files.open)
		return 0;
	if (!s->path || s->pid != pid || strcmp(s->path, path) != 0) {
		free(s->path);
		free(s->text);
		s->text = NULL;
		s->pid = pid;
		s->path = strdup(path);
		read_source(s, pid, path);
	}
	*ret = s->text;
	return s->size;
}

/* ---- a line ---- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the only word `function` of the line, or NULL. */
static const char *only_function(const char *line, const char *end)
{
	static const char word[] = "function";
	size_t n = sizeof(word) - 1;
	const char *found = NULL;

	for (const char *p = line; p + n <= end; p++) {
		if (memcmp(p, word, n) != 0 || (p > line && is_name(p[-1])) || (p + n < end && is_name(p[n])))
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found ? found + n : NULL;
}

static char *copy(const char *from, const char *to)
{
	if (to <= from || to - from > NAME_LONGEST || isdigit((unsigned char)*from))
		return NULL;
	return strndup(from, (size_t)(to - from));
}

/* Returns the name after the word: function NAME(. */
static char *name_after(const char *p, const char *end)
{
	const char *from;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	from = p;
	while (p < end && (is_name(*p) || *p == '.' || *p == ':'))
		p++;
	return copy(from, p);
}

/* Returns the name before the word: NAME = function. */
static char *name_before(const char *line, const char *p)
{
	const char *end;

	while (p > line && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	if (p == line || p[-1] != '=')
		return NULL;
	p--;
	while (p > line && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	end = p;
	while (p > line && (is_name(p[-1]) || p[-1] == '.'))
		p--;
	return copy(p, end);
}

char *lua_sources_name(struct lua_sources *s, int pid, const char *chunk, size_t size, uint32_t line)
{
	const char *text, *end, *after, *stop;
	char *name;

	size = text_of(s, pid, chunk, size, &text);
	if (!size || !line)
		return NULL;
	stop = text + size;
	for (; --line; text = end + 1) {
		end = memchr(text, '\n', (size_t)(stop - text));
		if (!end)
			return NULL;
	}
	end = memchr(text, '\n', (size_t)(stop - text));
	end = end ? end : stop;
	after = only_function(text, end);
	if (!after)
		return NULL;
	name = name_after(after, end);
	return name ? name : name_before(text, after - strlen("function"));
}
