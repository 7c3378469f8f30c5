// SPDX-License-Identifier: Apache-2.0
/* files.h - the programs and libraries that the attach points of one script mean: scripts name the same few
 * again and again, and a library's symbols take milliseconds to read. */
#pragma once

struct elf;

/* What was found and opened while a script's names were resolved. */
struct kept_files;

/* NULL: no memory; nothing is kept then. */
struct kept_files *kept_files_new(void);
void kept_files_free(struct kept_files *k);
static inline void kept_files_freep(struct kept_files **k) { kept_files_free(*k); }
