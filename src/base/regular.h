// SPDX-License-Identifier: Apache-2.0
/* regular.h - files that strata opens by itself: names come from traced processes and from
 * directories that others write to. A fifo there would block, and opening a device may do
 * something. */
#pragma once

/* Opens a regular file for reading, relative to a directory (AT_FDCWD); flags: O_NOFOLLOW or 0.
 * An fd or -errno; -ENOEXEC: it is something else. */
int regular_open(int dir, const char *path, int flags);
/* The same of an fd that was opened with O_PATH, or is -errno; closes it. */
int regular_reopen(int fd);
