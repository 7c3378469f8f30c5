// SPDX-License-Identifier: Apache-2.0
/* debugfile.h - finds the file that has a program's symbols and debug information, if the program itself
 * does not have them.
 *
 * The places are those of GDB (gdb/doc, Separate Debug Files) and of debuginfod's client (debuginfod(7)):
 * DIR/.build-id/xx/yy.debug; the name of .gnu_debuglink next to the program, in its .debug/ and in
 * DIR/ITS-PATH/; CACHE/BUILDID/debuginfo. DIR are the directories of --debuginfo, then /usr/lib/debug. */
#pragma once
#include <stdbool.h>

struct elf;

/* Sets the directories, separated by ':'. The text must outlive all searches. NULL: only /usr/lib/debug. */
void debugfile_dirs(const char *dirs);
/* Returns the path, which the caller frees, or NULL if there is no such file. The file has the build id of
 * e, or the checksum of .gnu_debuglink. path is the path of e; if it is NULL, only names made of the build
 * id are tried. For a path /proc/PID/root/.. the process's directories are searched, too. */
char *debugfile_find(const struct elf *e, const char *path);
