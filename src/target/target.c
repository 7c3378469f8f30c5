// SPDX-License-Identifier: Apache-2.0
/* target.c - the root of the machine, and opening files under it. */
#include "target/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/priv.h"

struct target *target_open(const char *root)
{
	struct target *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	t->cache_fd = -1;
	t->arena = arena_new();
	t->root = realpath(root, NULL);
	if (t->root_fd < 0 || !t->root) {
		target_close(t);
		return NULL;
	}
	if (!strcmp(t->root, "/"))
		t->root[0] = '\0';
	return t;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	ksyms_free(t->ksyms);
	kfuncs_free(t->functions);
	kfuncs_free(t->traceable);
	btf_done(t);
	closep(&t->root_fd);
	closep(&t->cache_fd);
	free(t->ld_cache);
	free(t->root);
	arena_free(t->arena);
	free(t);
}

const char *target_root(const struct target *t)
{
	return t->root[0] ? t->root : "/";
}

bool target_is_live(const struct target *t)
{
	return !t->root[0];
}

const char *target_path(struct target *t, const char *path)
{
	if (target_is_live(t))
		return arena_strdup(t->arena, path);
	return arena_printf(t->arena, "%s%s%s", t->root, path[0] == '/' ? "" : "/", path);
}

int target_openat(const struct target *t, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd;

	if (target_is_live(t))
		fd = open(path, flags | O_CLOEXEC);
	else
		fd = (int)syscall(SYS_openat2, t->root_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static bool is_same_file(const struct target *t, const char *path, int fd)
{
	_cleanup_(closep) int other = target_openat(t, path, O_PATH);
	struct stat a, b;

	return other >= 0 && !fstat(fd, &a) && !fstat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

const char *target_realpath(struct target *t, const char *path)
{
	char proc[64], real[PATH_MAX];
	_cleanup_(closep) int fd = target_openat(t, path, O_PATH);
	size_t root = strlen(t->root);
	ssize_t n;

	if (fd < 0)
		return NULL;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	n = readlink(proc, real, sizeof(real));
	if (n <= 0 || (size_t)n >= sizeof(real) || (size_t)n <= root)
		return NULL;
	real[n] = '\0';
	/* A file of another mount namespace (/proc/PID/root/...): here the same name is another file. */
	if (!is_same_file(t, real + root, fd))
		return arena_strdup(t->arena, path);
	return arena_strdup(t->arena, real + root);
}

static char *shrunk(char *data, size_t size)
{
	char *ret = realloc(data, size);

	return ret ? ret : data;
}

enum { READ_FIRST = 1 << 15 }; /* bytes: more than most processes' mappings take */

/* Files of /proc have no size, so they are read until the end. */
char *read_fd(int fd, size_t max, size_t *ret_size)
{
	size_t len = 0, cap = max < READ_FIRST ? max : READ_FIRST;
	char *data = malloc(cap + 1);

	while (data && len < max) {
		ssize_t n;

		if (len == cap) {
			char *more = realloc(data, (cap *= 2) + 1);

			if (!more)
				break;
			data = more;
		}
		n = read(fd, data + len, (cap < max ? cap : max) - len);
		if (n < 0) {
			freep(&data);
			return NULL;
		}
		if (!n)
			break;
		len += (size_t)n;
	}
	if (!data)
		return NULL;
	data[len] = '\0';
	if (ret_size)
		*ret_size = len;
	return shrunk(data, len + 1);
}

char *target_read(const struct target *t, const char *path, size_t max, size_t *ret_size)
{
	_cleanup_(closep) int fd = target_openat(t, path, O_RDONLY | O_NONBLOCK);

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	return read_fd(fd, max, ret_size);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

void target_list(struct target *t, const char *dir, unsigned char kind, const char *pattern,
	struct strings *found)
{
	int fd = target_openat(t, dir, O_RDONLY | O_DIRECTORY);
	_cleanup_(closedirp) DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && e->d_type == kind && glob_match(pattern, e->d_name))
			strings_add(t, found, e->d_name);
}

void strings_add(struct target *t, struct strings *s, const char *text)
{
	s->list = vec_grow(s->list, &s->cap, s->len, sizeof(*s->list));
	s->list[s->len++] = arena_strdup(t->arena, text);
}

bool strings_have(const struct strings *s, const char *text)
{
	for (size_t i = 0; i < s->len; i++)
		if (!strcmp(s->list[i], text))
			return true;
	return false;
}

static int cmp_string(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strings_sort(struct strings *s)
{
	if (s->len)
		qsort(s->list, s->len, sizeof(*s->list), cmp_string);
}

const char *const *strings_done(struct target *t, struct strings *s)
{
	const char **list = arena_new_array(t->arena, const char *, s->len + 1);

	if (s->len)
		memcpy(list, s->list, s->len * sizeof(*list));
	free(s->list);
	*s = (struct strings){};
	return list;
}
