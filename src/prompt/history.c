// SPDX-License-Identifier: Apache-2.0
/* history.c - libedit only reads the history file. For each new line it could only write all lines again,
 * which took as long as all other work for a line if there were 300 lines, and lost lines that another
 * prompt had added. So lines are appended here. */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"

enum { HISTORY_MAX = 2000 };

/* The first line of libedit's file, format 2. In other formats, strunvis() of libbsd replaces `\ooo`. */
#define FIRST_LINE "_HiStOrY_V2_\n"

static bool make_directories(const char *path)
{
	_cleanup_(freep) char *dir = strdup(path);

	for (char *p = dir + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (mkdir(dir, 0700) && errno != EEXIST)
			return false;
	}
	return true;
}

/* Stops using the file, which belongs to another user or is not a regular file. */
static void give_up(struct history *h, int r)
{
	log_warn("the lines that are typed are not kept: %s: %s", h->path, regular_why(r));
	free(h->path);
	h->path = NULL;
}

/* Writes all lines again, except the oldest ones. */
static void shorten(struct history *h)
{
	int fd = regular_own(h->path, O_WRONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	HistEvent event;

	if (!file) {
		closep(&fd);
		return;
	}
	if (!ftruncate(fd, 0))
		h->lib->history(h->lines_of_libedit, &event, H_SAVE_FP, file);
	fclose(file);
}

static void read_file(struct history *h)
{
	_cleanup_(closep) int fd = regular_own(h->path, O_RDONLY);
	HistEvent event;
	char opened[32];

	if (fd < 0 && fd != -ENOENT)
		give_up(h, fd);
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	if (fd < 0 || h->lib->history(h->lines_of_libedit, &event, H_LOAD, opened) < 0)
		return;
	if (h->lib->history(h->lines_of_libedit, &event, H_GETSIZE) >= 0 && event.num >= HISTORY_MAX)
		shorten(h);
	for (int r = h->lib->history(h->lines_of_libedit, &event, H_LAST); r >= 0;
		r = h->lib->history(h->lines_of_libedit, &event, H_PREV))
		vec_push(&h->lines, strdup(event.str));
}

int history_open(struct history *h, const struct libedit *lib, const char *path)
{
	HistEvent event;

	h->lib = lib;
	h->lines_of_libedit = lib->history_init();
	if (!h->lines_of_libedit)
		return -ENOMEM;
	lib->history(h->lines_of_libedit, &event, H_SETSIZE, HISTORY_MAX);
	lib->history(h->lines_of_libedit, &event, H_SETUNIQUE, 1);
	h->path = path && make_directories(path) ? strdup(path) : NULL;
	if (h->path)
		read_file(h);
	return 0;
}

static void append(struct history *h, const char *text)
{
	int fd = regular_own(h->path, O_WRONLY | O_APPEND | O_CREAT);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
	struct stat st;

	if (!file) {
		give_up(h, fd < 0 ? fd : -ENOMEM);
		closep(&fd);
		return;
	}
	fchmod(fd, 0600);
	if (!fstat(fd, &st) && !st.st_size)
		fputs(FIRST_LINE, file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\\' || c <= ' ' || c == 127)
			fprintf(file, "\\%03o", c);
		else
			putc(c, file);
	}
	putc('\n', file);
	fclose(file);
}

void history_add(struct history *h, const char *text)
{
	const char *last = h->lines.len ? h->lines.data[h->lines.len - 1] : "";
	HistEvent event;

	if (!text[strspn(text, " \t\n")] || !strcmp(text, last))
		return;
	h->lib->history(h->lines_of_libedit, &event, H_ENTER, text);
	vec_push(&h->lines, strdup(text));
	if (h->path)
		append(h, text);
}

const char *history_rest(const struct history *h, const char *text, size_t n)
{
	for (size_t i = h->lines.len; i-- > 0;) {
		const char *line = h->lines.data[i];

		if (!strncmp(line, text, n) && line[n] && !strchr(line, '\n'))
			return line + n;
	}
	return NULL;
}

void history_close(struct history *h)
{
	if (h->lines_of_libedit)
		h->lib->history_end(h->lines_of_libedit);
	for (size_t i = 0; i < h->lines.len; i++)
		free(h->lines.data[i]);
	vec_done(&h->lines);
	free(h->path);
}
