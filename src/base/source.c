// SPDX-License-Identifier: Apache-2.0
/* source.c - the text of a script, and positions in it. */
#include "source.h"

#include <errno.h>
#include <string.h>

#include "arena.h"
#include "owner.h"
#include "str.h"

void source_move(const struct source *s, struct source_cursor *c, uint32_t at)
{
	if (at > s->len)
		at = (uint32_t)s->len;
	while (c->at < at)
		if (s->text[c->at++] == '\n') {
			c->lines++;
			c->line_start = c->at;
		}
	while (c->at > at)
		if (s->text[--c->at] == '\n') {
			c->lines--;
			for (c->line_start = c->at; c->line_start && s->text[c->line_start - 1] != '\n';)
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

int source_read(struct arena *a, const char *path, struct source *ret)
{
	_cleanup_(fclosep) FILE *opened = NULL;
	_cleanup_(str_done) struct str text = {};
	FILE *f = stdin;
	char buf[4096];
	size_t n;

	if (strcmp(path, "-") != 0) {
		f = opened = fopen(path, "re");
		if (!f)
			return -errno;
	}
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0) {
		str_addn(&text, buf, n);
		if (text.len > SOURCE_MAX)
			return -EFBIG;
	}
	if (ferror(f))
		return errno ? -errno : -EIO;
	ret->name = arena_strdup(a, f == stdin ? "stdin" : path);
	ret->len = text.len;
	ret->text = arena_strndup(a, str_text(&text), text.len);
	return 0;
}
