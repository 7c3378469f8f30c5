// SPDX-License-Identifier: Apache-2.0
/* dwp.h - the split units of a program in one file, PROGRAM.dwp: a package of .dwo files (DWARF 5, section 7.3.5;
 * before it GNU's form for DWARF 4, https://gcc.gnu.org/wiki/DebugFissionDWP).
 *
 * libdw before 0.191 knows only .dwo files. So each unit that is needed becomes a .dwo file in memory, which libdw
 * reads by its path in /proc/self/fd. All of them have the same path, one after another: libdw keeps the mapping, not
 * the file. The data are untrusted. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct dwp;

/* Opens PATH.dwp. path: that of a program or of its debug file, or NULL. dir: the cache's directory, or -1. Returns
 * NULL if there is none that can be read. */
struct dwp *dwp_open(const char *path, int dir);
void dwp_close(struct dwp *d);
/* Makes the file of a unit (its DWO ID), at the path. Returns 0 on success, -ENOENT if the package has no such unit,
 * -EBADMSG if it is damaged, or another -errno. */
int dwp_unit(struct dwp *d, uint64_t id);
/* Returns the path; shorter than 32 bytes. */
const char *dwp_path(const struct dwp *d);
