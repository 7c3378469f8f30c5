// SPDX-License-Identifier: Apache-2.0
/* regular.c - opens a file for reading with O_PATH first, which has no effect on it, to check its kind.
 * Opens a file for writing without waiting, and checks its kind before it is changed. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"

int regular_reopen(int at)
{
	_cleanup_(closep) int fd = at;
	char name[32];
	struct stat st;
	int opened;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	opened = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return opened < 0 ? -errno : opened;
}

int regular_open(int dir, const char *path, int flags)
{
	int fd = openat(dir, path, flags | O_PATH | O_CLOEXEC);

	return regular_reopen(fd < 0 ? -errno : fd);
}

/* Takes ownership of fd. st describes fd. */
static int checked(int fd, struct stat *st)
{
	int r = fd < 0 || fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -ENOEXEC;

	if (!r)
		return fd;
	closep(&fd);
	return r == -ENXIO ? -ENOEXEC : r; /* a fifo without a reader, or a socket */
}

int regular_own(const char *path, int flags)
{
	struct stat st;
	int fd = checked(open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600), &st);

	if (fd >= 0 && (st.st_uid != geteuid() || st.st_nlink > 1)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int regular_create(const char *path, bool over)
{
	int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (over ? 0 : O_EXCL), r;
	struct stat st;
	int fd = checked(open(path, flags, 0666), &st);

	if (fd < 0 || !ftruncate(fd, 0))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

const char *regular_why(int r)
{
	switch (-r) {
	case ELOOP:
		return "it is a symbolic link";
	case ENOEXEC:
		return "it is not a regular file";
	case EPERM:
		return "it is not this user's own file";
	case EEXIST:
		return "it is there already";
	default:
		return strerror(-r);
	}
}
