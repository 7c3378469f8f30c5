// SPDX-License-Identifier: Apache-2.0
/* cache.c - the directory of cached results. strata trusts its files, so nobody else may be able to write
 * to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "target/priv.h"

#define SYSTEM_CACHE "/var/cache/strata"

/* Returns $STRATA_CACHE_DIR, the system's directory for root, or the user's own. */
static const char *cache_path(struct target *t)
{
	const char *dir = getenv("STRATA_CACHE_DIR");

	if (dir && dir[0] == '/')
		return dir;
	if (geteuid() == 0)
		return SYSTEM_CACHE;
	dir = getenv("XDG_CACHE_HOME");
	if (dir && dir[0] == '/')
		return arena_printf(t->arena, "%s/strata", dir);
	dir = getenv("HOME");
	return dir && dir[0] == '/' ? arena_printf(t->arena, "%s/.cache/strata", dir) : NULL;
}

static void make_parents(struct target *t, const char *path)
{
	char *p = arena_strdup(t->arena, path);

	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(p, 0755);
		*slash = '/';
	}
}

static int open_cache(struct target *t)
{
	_cleanup_(closep) int fd = -1;
	const char *path = cache_path(t);
	struct stat st;

	if (!path)
		return -ENOENT;
	make_parents(t, path);
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	return TAKE_FD(fd);
}

/* Says why a directory that the user has named is not used. With /dev/null, nothing is wanted in the cache. */
static void explain(int r)
{
	const char *dir = getenv("STRATA_CACHE_DIR");

	if (!dir || !*dir || !strcmp(dir, "/dev/null"))
		return;
	if (dir[0] != '/') {
		log_warn("STRATA_CACHE_DIR is not an absolute path, and is not used: %s", dir);
	} else if (r == -EPERM) {
		log_warn("nothing is cached in %s: it belongs to another user, or others can write to it (chmod go-w)",
			dir);
	} else if (r) {
		log_warn("nothing is cached in %s: %s", dir, why_errno(r));
	}
}

int target_cache_dir(struct target *t)
{
	int fd;

	if (t->cache_fd == -1) {
		fd = open_cache(t);
		explain(fd < 0 ? fd : 0);
		t->cache_fd = fd >= 0 ? fd : fd - 1;
	}
	return t->cache_fd >= 0 ? t->cache_fd : t->cache_fd + 1;
}
