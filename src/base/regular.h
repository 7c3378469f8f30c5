// SPDX-License-Identifier: Apache-2.0
/* regular.h - opening regular files only. Names of files come from traced processes and from
 * directories that others can write to: opening a fifo would block, opening a device may have an
 * effect. */
#pragma once
#include <stdbool.h>

/* Opens a regular file for reading, by a path relative to dir or AT_FDCWD; flags: O_NOFOLLOW or 0.
 * An fd or -errno; -ENOEXEC: it is not a regular file. */
int regular_open(int dir, const char *path, int flags);
/* The same for an fd that was opened with O_PATH, which it closes; -errno is passed on. */
int regular_reopen(int fd);
/* Opens a file that this user keeps, in a directory that others may be able to change: a symbolic link (-ELOOP),
 * another user's file or one with a second name (-EPERM), and what is not a regular file (-ENOEXEC) are refused.
 * flags are those of open(), which makes the file for this user only. Returns an fd or -errno. */
int regular_own(const char *path, int flags);
/* Makes a file for writing, or empties the one that is there if `over` is set; else -EEXIST. Does not wait for the
 * reader of a fifo. Returns an fd or -errno. */
int regular_create(const char *path, bool over);
/* The reason for what these functions return, in words. */
const char *regular_why(int r);
