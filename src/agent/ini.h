/* SPDX-License-Identifier: Apache-2.0 */
/* ini.h - reads files of the form of systemd's: [section], key = value, and comments after # or ; at the start of a
 * line. A line ends in \ if its value goes on. */
#pragma once
#include <stdbool.h>

/* Called for each assignment; section is "" before the first heading. Returns NULL, or what is wrong with it. */
typedef const char *ini_take(void *arg, const char *section, const char *key, const char *value);

/* Reads a file. Errors are reported with file and line; reading goes on after them. Returns 0 on success, -errno if the
 * file cannot be read, -EINVAL after an error within. */
int ini_read(const char *path, ini_take *take, void *arg);
