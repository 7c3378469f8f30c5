// SPDX-License-Identifier: Apache-2.0
/* regular.c - the kind of a file is found by O_PATH, which does not open it. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
