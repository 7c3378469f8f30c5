// SPDX-License-Identifier: Apache-2.0
/* source.c - the text of a script, and places in it. */
#include "source.h"

#include <errno.h>
#include <string.h>

#include "arena.h"
#include "owner.h"
#include "str.h"

void source_position(const struct source *s, uint32_t at, unsigned *line, unsigned *col)
{
	size_t end = at < s->len ? at : s->len, start = 0;

	*line = 1;
	for (size_t i = 0; i < end; i++) {
		if (s->text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	*col = (unsigned)(end - start) + 1;
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
