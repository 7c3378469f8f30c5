// SPDX-License-Identifier: Apache-2.0
/* debugfile.h - the file that has a program's symbols and debug information, where they are not in the
 * program itself.
 *
 * Places are those of GDB (gdb/doc, Separate Debug Files) and of debuginfod's client (debuginfod(7)):
 * DIR/.build-id/xx/yy.debug, the name of .gnu_debuglink beside the program, in its .debug/ and in
 * DIR/ITS-PATH/; CACHE/BUILDID/debuginfo. DIR are those of --debuginfo, then /usr/lib/debug. */
#pragma once
#include <stdbool.h>

struct elf;

/* Directories separated by ':', which must outlive all searches; NULL: only /usr/lib/debug. */
void debugfile_dirs(const char *dirs);
/* The path, to be freed; NULL: there is none. It has e's build id, or .gnu_debuglink's checksum. path
 * is e's, NULL: only what its build id names is looked for. Of a path /proc/PID/root/.. the process's
 * directories are searched, too. */
char *debugfile_find(const struct elf *e, const char *path);
