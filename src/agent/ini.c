// SPDX-License-Identifier: Apache-2.0
/* ini.c - see ini.h. */
#include "ini.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"

enum { BYTES_MAX = 1 << 20, SECTION_MAX = 256 };

struct reading {
	const char *path;
	unsigned line;
	char section[SECTION_MAX];
	ini_take *take;
	void *arg;
	bool failed;
};

/* Removes spaces at both ends, in place. */
static char *trimmed(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n && strchr(" \t\r\n", text[n - 1]);)
		n--;
	text[n] = '\0';
	return text;
}

static void complain(struct reading *r, const char *what)
{
	log_error("%s:%u: %s", r->path, r->line, what);
	r->failed = true;
}

static void take_heading(struct reading *r, char *text)
{
	char *end = strchr(text, ']');

	if (!end || end[1] || end - text - 1 >= SECTION_MAX) {
		complain(r, "a section has the form [NAME]");
		return;
	}
	*end = '\0';
	snprintf(r->section, sizeof(r->section), "%s", trimmed(text + 1));
}

static void take_line(struct reading *r, char *line)
{
	char *text = trimmed(line), *equals = strchr(text, '=');
	const char *wrong;

	if (!*text || *text == '#' || *text == ';')
		return;
	if (*text == '[') {
		take_heading(r, text);
		return;
	}
	if (!equals || equals == text) {
		complain(r, "a line has the form KEY = VALUE");
		return;
	}
	*equals = '\0';
	wrong = r->take(r->arg, r->section, trimmed(text), trimmed(equals + 1));
	if (wrong)
		complain(r, wrong);
}

int ini_read(const char *path, ini_take *take, void *arg)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	struct reading r = {.path = path, .take = take, .arg = arg};
	struct str whole = {};
	size_t cap = 0, bytes = 0;
	ssize_t n;

	if (!file)
		return -errno;
	while ((n = getline(&line, &cap, file)) > 0 && (bytes += (size_t)n) <= BYTES_MAX) {
		char *end = trimmed(line) + strlen(trimmed(line));
		bool goes_on = end > line && end[-1] == '\\';

		r.line++;
		if (goes_on)
			end[-1] = ' ';
		str_add(&whole, line);
		if (goes_on)
			continue;
		take_line(&r, whole.data);
		str_clear(&whole);
	}
	if (whole.len)
		take_line(&r, whole.data);
	str_done(&whole);
	if (bytes > BYTES_MAX)
		complain(&r, "the file is too large");
	return r.failed ? -EINVAL : 0;
}
