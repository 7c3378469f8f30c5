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
