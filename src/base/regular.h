// SPDX-License-Identifier: Apache-2.0
/* regular.h - opens regular files only. File names come from traced processes and from directories that
 * others can write to: opening a fifo would block, and opening a device may have an effect. */
#pragma once
#include <stdbool.h>

/* Opens a regular file for reading, by a path relative to dir or AT_FDCWD. flags are O_NOFOLLOW or 0.
 * Returns an fd on success, -ENOEXEC if it is not a regular file, another -errno on other failures. */
int regular_open(int dir, const char *path, int flags);
/* Opens the file of an O_PATH fd for reading, and closes that fd. Returns like regular_open(). A negative
 * fd is an -errno, which is returned. */
int regular_reopen(int fd);
/* Opens a file of this user in a directory that others may be able to change. Refuses a symbolic link
 * (-ELOOP), a file of another user or with a second name (-EPERM), and a file that is not regular
 * (-ENOEXEC). flags are those of open(); a new file is accessible to this user only. Returns an fd or
 * -errno. */
int regular_own(const char *path, int flags);
/* Creates a file for writing, or empties an existing one if `over` is set; else returns -EEXIST for it.
 * Does not wait for the reader of a fifo. Returns an fd or -errno. */
int regular_create(const char *path, bool over);
/* Returns the reason for an error of these functions, in words. */
const char *regular_why(int r);
