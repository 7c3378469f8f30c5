// SPDX-License-Identifier: Apache-2.0
/* filemap.h - files mapped for reading, which another process may truncate meanwhile. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps a file's bytes read-only. Returns NULL and sets errno on failure. After a truncation, reads give
 * zeros instead of a SIGBUS. */
const uint8_t *filemap(int fd, size_t size);
void filemap_done(const uint8_t *data, size_t size);
/* Protects a mapping that a library has made in the same way. Call filemap_unguard() before it is unmapped. */
bool filemap_guard(const void *data, size_t size);
void filemap_unguard(const void *data);
