// SPDX-License-Identifier: Apache-2.0
/* files.h - the programs and libraries of one script's attach points: scripts name the same few repeatedly,
 * and reading a library's symbols takes milliseconds. */
#pragma once

struct elf;

/* Files that were found and opened while a script's names were resolved. */
struct kept_files;

/* Returns NULL if there is no memory; then nothing is kept. */
struct kept_files *kept_files_new(void);
void kept_files_free(struct kept_files *k);
static inline void kept_files_freep(struct kept_files **k) { kept_files_free(*k); }
