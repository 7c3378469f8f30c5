// SPDX-License-Identifier: Apache-2.0
/* cgroup.c - cgroups: their ids, which BPF knows, and their paths. An id is the inode number of the
 * directory (kernfs: fs/kernfs/dir.c, Linux 5.5 on). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "priv.h"
#include "target.h"

enum { DEPTH_MAX = 64 };

int target_cgroup_id(struct target *t, const char *path, uint64_t *ret)
{
	int fd = open(target_path(t, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) || fstat(fd, &st))
		r = -errno;
	else if (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC)
		r = -ENOTTY;
	else
		*ret = st.st_ino;
	close(fd);
	return r;
}

/* ---- paths -------------------------------------------------------------- */

/* Appends the path of the directory with that inode, at or below fd. Closes fd. */
static bool find_below(int fd, uint64_t id, struct str *path, unsigned depth)
{
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (fstat(fd, &st) || st.st_ino == id || depth == DEPTH_MAX || !(dir = fdopendir(fd))) {
		bool found = !fstat(fd, &st) && st.st_ino == id;

		close(fd);
		return found;
	}
	while ((e = readdir(dir))) {
		size_t before = path->len;
		int child;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		child = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		str_addf(path, "/%s", e->d_name);
		if (child >= 0 && find_below(child, id, path, depth + 1)) {
			closedir(dir);
			return true;
		}
		path->len = before;
		path->data[before] = '\0';
	}
	closedir(dir);
	return false;
}

/* Writes "unified" for version 2; for version 1 the controllers, or the name of the hierarchy:
 * "name=systemd". */
static void hierarchy_name(const char *type, const char *options, struct str *out)
{
	if (!strcmp(type, "cgroup2")) {
		str_add(out, "unified");
		return;
	}
	while (*options) {
		size_t n = strcspn(options, ",");
		bool is_name = !strncmp(options, "name=", 5);

		if (is_name)
			str_addn(out, options + 5, n - 5);
		else if (strncmp(options, "rw", n) && strncmp(options, "ro", n) && strncmp(options, "xattr", n) &&
			strncmp(options, "clone_children", n) && strncmp(options, "release_agent=", 14))
			str_addf(out, "%s%.*s", out->len ? "," : "", (int)n, options);
		options += n + (options[n] == ',');
	}
}

static void add_path(struct target *t, uint64_t id, const char *name, const char *mount, struct str *out)
{
	int fd = open(target_path(t, mount), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct str path = {}, text = {};

	if (fd >= 0 && find_below(fd, id, &path, 0)) {
		str_addf(&text, "%s:%s", name, path.len ? str_text(&path) : "/");
		if (!out->len || !strstr(out->data, str_text(&text))) /* the hierarchy may be mounted twice */
			str_addf(out, "%s%s", out->len ? "," : "", str_text(&text));
	}
	str_done(&path);
	str_done(&text);
}

/* Reads a line of /proc/PID/mountinfo (proc(5)): ID PARENT DEV ROOT MOUNT OPTIONS [..] - TYPE SOURCE
 * OPTIONS */
static void look_in(struct target *t, char *line, uint64_t id, const char *hierarchies, struct str *out)
{
	char mount[4096], type[32], options[1024];
	char *super = strstr(line, " - ");
	struct str name = {};

	if (!super || sscanf(line, "%*s %*s %*s %*s %4095s", mount) != 1 ||
		sscanf(super, " - %31s %*s %1023s", type, options) != 2 || strncmp(type, "cgroup", 6))
		return;
	hierarchy_name(type, options, &name);
	if (glob_match(hierarchies, str_text(&name)))
		add_path(t, id, str_text(&name), mount, out);
	str_done(&name);
}

void target_cgroup_path(struct target *t, uint64_t id, const char *hierarchies, struct str *out)
{
	char *text = target_read(t, "/proc/self/mountinfo", 16 << 20, NULL), *rest = text, *line;
	struct str found = {};

	while (rest && (line = strsep(&rest, "\n")))
		look_in(t, line, id, hierarchies, &found);
	str_add(out, str_text(&found));
	str_done(&found);
	free(text);
}

/* ---- the tree of version 2 ----------------------------------------------- */

/* Opens a mount of cgroups of version 2: one of the root, or else, if not only_root, the first. Returns -errno on
 * failure. */
static int open_mount(struct target *t, bool only_root, struct str *ret_mount)
{
	_cleanup_(freep) char *text = target_read(t, "/proc/self/mountinfo", 16 << 20, NULL);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char root[4096], mount[4096];
		int fd;

		if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
			(only_root && strcmp(root, "/") != 0))
			continue;
		fd = open(target_path(t, mount), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		str_add(ret_mount, mount);
		return fd;
	}
	return -ENOENT;
}

/* Opens the root of the cgroups of version 2, which may be mounted elsewhere than usual. A part of the tree may be
 * mounted before it. Returns -errno on failure. */
static int open_root(struct target *t, struct str *ret_mount)
{
	int fd = open_mount(t, true, ret_mount);

	return fd < 0 ? open_mount(t, false, ret_mount) : fd;
}

struct each {
	void (*f)(void *arg, uint64_t id, const char *path);
	void *arg;
};

/* Closes fd. */
static void each_below(int fd, const struct each *e, struct str *path, unsigned depth)
{
	DIR *dir = depth == DEPTH_MAX ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!fstat(fd, &st))
		e->f(e->arg, st.st_ino, depth ? str_text(path) : "unified:/");
	if (!dir)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		size_t before = path->len;
		int child;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		child = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		str_addf(path, "/%s", entry->d_name);
		if (child >= 0)
			each_below(child, e, path, depth + 1);
		path->len = before;
		path->data[before] = '\0';
	}
	if (dir)
		closedir(dir);
}

void target_each_cgroup(struct target *t, void (*f)(void *arg, uint64_t id, const char *path), void *arg)
{
	struct str mount = {}, path = {};
	int fd = open_root(t, &mount);

	str_add(&path, "unified:");
	if (fd >= 0)
		each_below(fd, &(struct each){f, arg}, &path, 0);
	str_done(&mount);
	str_done(&path);
}

/* The inode of the first cgroup is 1 (kernfs: fs/kernfs/dir.c, Linux 5.5 on). The root of a namespace has another. */
enum { FIRST_INODE = 1 };

static int level_of(int fd)
{
	int at = dup(fd), level = -1;
	struct stat st;

	for (int up = 0; at >= 0 && up < DEPTH_MAX && !fstat(at, &st); up++) {
		int above = st.st_ino == FIRST_INODE ? -1 : openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct statfs fs;

		close(at);
		at = -1;
		if (st.st_ino == FIRST_INODE)
			level = up;
		else if (above >= 0 && !fstatfs(above, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			at = above;
		else if (above >= 0)
			close(above);
	}
	if (at >= 0)
		close(at);
	return level;
}

static int open_cgroup(struct target *t, const char *path)
{
	int fd = open(target_path(t, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), root;
	struct str mount = {};
	struct statfs fs;

	if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	if (fd >= 0)
		close(fd);
	root = open_root(t, &mount);
	str_done(&mount);
	if (root < 0)
		return fd >= 0 ? -ENOTTY : root;
	path += strspn(path, "/");
	fd = openat(root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	close(root);
	return fd;
}

int target_cgroup_find(struct target *t, const char *path, uint64_t *ret_id, int *ret_level)
{
	int fd = open_cgroup(t, path), r = 0;
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstatfs(fd, &fs) || fstat(fd, &st)) {
		r = -errno;
	} else if (fs.f_type != CGROUP2_SUPER_MAGIC) {
		r = -ENOTTY;
	} else {
		*ret_id = st.st_ino;
		*ret_level = level_of(fd);
	}
	close(fd);
	return r;
}
