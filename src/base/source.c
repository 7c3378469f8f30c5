// SPDX-License-Identifier: Apache-2.0
/* source.c - the text of a script, and positions in it. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "owner.h"
#include "regular.h"
#include "str.h"

static const struct source_use *find_use(const struct source *s, uint32_t at)
{
	unsigned from = 0, to = s->nuses;

	while (to - from > 1) {
		unsigned middle = (from + to) / 2;

		if (s->uses[middle].start <= at)
			from = middle;
		else
			to = middle;
	}
	return &s->uses[from];
}

struct source_spot source_spot(const struct source *s, uint32_t at)
{
	struct source_spot spot = {.name = s->name, .end = (uint32_t)s->len};

	if (at >= SOURCE_USES && s->nuses) {
		spot.use = find_use(s, at);
		at = at - spot.use->start + spot.use->body;
	}
	if (s->nfiles)
		spot.end = s->files[0].start - 1;
	for (unsigned i = 0; i < s->nfiles && at >= s->files[i].start; i++) {
		spot.name = s->files[i].name;
		spot.start = s->files[i].start;
		spot.end = spot.start + s->files[i].len;
	}
	spot.at = at < spot.end ? at : spot.end;
	return spot;
}

uint32_t source_add_file(
	struct arena *a, struct source *s, const char *name, const struct source *file)
{
	struct source_file *files = arena_new_array(a, struct source_file, s->nfiles + 1);
	size_t start = s->len + 1;
	char *all;

	if (start + file->len >= SOURCE_USES)
		return 0;
	all = arena_alloc(a, start + file->len + 1);
	memcpy(all, s->text, s->len);
	memcpy(all + start, file->text, file->len);
	for (unsigned i = 0; i < s->nfiles; i++)
		files[i] = s->files[i];
	files[s->nfiles++] = (struct source_file){name, file->real, (uint32_t)start, (uint32_t)file->len};
	s->files = files;
	s->text = all;
	s->len = start + file->len;
	return (uint32_t)start;
}

uint32_t source_add_use(struct arena *a, struct source *s, struct span body, struct span from)
{
	const struct source_use *last = s->nuses ? &s->uses[s->nuses - 1] : NULL;
	uint32_t start = last ? last->start + last->len : SOURCE_USES, len = body.end - body.start + 1;

	if (UINT32_MAX - start < len)
		return 0;
	if (!(s->nuses & (s->nuses - 1))) { /* the array's capacity is a power of two */
		struct source_use *uses = arena_new_array(a, struct source_use, 2 * s->nuses + 1);

		if (s->nuses)
			memcpy(uses, s->uses, s->nuses * sizeof(*uses));
		s->uses = uses;
	}
	s->uses[s->nuses++] = (struct source_use){start, len, body.start, from};
	return start;
}

struct span source_outermost(const struct source *s, struct span at)
{
	while (at.start >= SOURCE_USES && s->nuses)
		at = find_use(s, at.start)->from;
	return at;
}

void source_move(const struct source *s, struct source_cursor *c, uint32_t at)
{
	struct source_spot spot = source_spot(s, at);

	if (c->file != spot.start)
		*c = (struct source_cursor){spot.start, spot.start, spot.start, 0};
	while (c->at < spot.at)
		if (s->text[c->at++] == '\n') {
			c->lines++;
			c->line_start = c->at;
		}
	while (c->at > spot.at)
		if (s->text[--c->at] == '\n') {
			c->lines--;
			for (c->line_start = c->at;
				c->line_start > spot.start && s->text[c->line_start - 1] != '\n';)
				c->line_start--;
		}
}

void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col)
{
	struct source_cursor c = {};

	source_move(s, &c, at);
	*line = c.lines + 1;
	*col = c.at - c.line_start + 1;
}

/* path is the name that the user gave. For "-", f is the standard input. */
static int read_stream(struct arena *a, FILE *f, const char *path, struct source *ret)
{
	_cleanup_(str_done) struct str text = {};
	_cleanup_(freep) char *real = NULL;
	char buf[4096];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), f)) > 0) {
		str_addn(&text, buf, n);
		if (text.len > SOURCE_MAX)
			return -EFBIG;
	}
	if (ferror(f))
		return errno ? -errno : -EIO;
	real = f != stdin ? realpath(path, NULL) : NULL;
	*ret = (struct source){
		.name = arena_strdup(a, f == stdin ? "stdin" : path),
		.real = real ? arena_strdup(a, real) : NULL,
		.len = text.len,
		.text = arena_strndup(a, str_text(&text), text.len),
	};
	return 0;
}

int source_read(struct arena *a, const char *path, struct source *ret)
{
	_cleanup_(fclosep) FILE *opened = strcmp(path, "-") ? fopen(path, "re") : NULL;

	if (!opened && strcmp(path, "-"))
		return -errno;
	return read_stream(a, opened ? opened : stdin, path, ret);
}

int source_read_regular(struct arena *a, const char *path, struct source *ret)
{
	_cleanup_(fclosep) FILE *opened = NULL;
	int fd = regular_open(AT_FDCWD, path, 0);

	if (fd < 0)
		return fd;
	opened = fdopen(fd, "r");
	return opened ? read_stream(a, opened, path, ret) : -ENOMEM;
}
