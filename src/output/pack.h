// SPDX-License-Identifier: Apache-2.0
/* pack.h - compressed files, as bytes written to and read from a FILE. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pack { PACK_NONE, PACK_GZIP, PACK_ZSTD };

/* Returns the compression by the end of a file's name, ".gz", ".zst", and its length in ret_len. */
enum pack pack_by_name(const char *file, size_t *ret_len);
/* Returns a FILE that writes to `below`, compressed, or unchanged for PACK_NONE. fclose() leaves `below`
 * open, and fails if a write has failed. Returns NULL if there is no memory. */
FILE *pack_write(enum pack how, FILE *below);
/* Returns a FILE that reads a descriptor, compressed or not, and closes it. Reading fails with EBADMSG if the
 * data are damaged. If there is no memory, closes the descriptor and returns NULL. */
FILE *pack_read(int fd);
