// SPDX-License-Identifier: Apache-2.0
/* filemap.h - files mapped for reading that somebody else may shorten meanwhile. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file's bytes, read-only, or NULL and errno. Where the file was shortened since, zeros are read,
 * instead of a SIGBUS. */
const uint8_t *filemap(int fd, size_t size);
void filemap_done(const uint8_t *data, size_t size);
/* For a mapping that a library has made: the same protection; until filemap_unguard(), before it is
 * unmapped. */
bool filemap_guard(const void *data, size_t size);
void filemap_unguard(const void *data);
