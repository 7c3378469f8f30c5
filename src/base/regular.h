// SPDX-License-Identifier: Apache-2.0
/* regular.h - opening regular files only. Names of files come from traced processes and from
 * directories that others can write to: opening a fifo would block, opening a device may have an
 * effect. */
#pragma once

/* Opens a regular file for reading, by a path relative to dir or AT_FDCWD; flags: O_NOFOLLOW or 0.
 * An fd or -errno; -ENOEXEC: it is not a regular file. */
int regular_open(int dir, const char *path, int flags);
/* The same for an fd that was opened with O_PATH, which it closes; -errno is passed on. */
int regular_reopen(int fd);
