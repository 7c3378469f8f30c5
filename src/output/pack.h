// SPDX-License-Identifier: Apache-2.0
/* pack.h - compressed files, as bytes written to and read from a FILE. */
#pragma once
#include <stddef.h>
#include <stdio.h>

enum pack { PACK_NONE, PACK_GZIP, PACK_ZSTD };

/* By the end of a file's name, whose length goes to ret_len: ".gz", ".zst". */
enum pack pack_by_name(const char *file, size_t *ret_len);
/* What is written to it is written to `below`, compressed; closed by fclose(), which leaves `below` open and fails
 * where a write has. Of PACK_NONE too. NULL: no memory. */
FILE *pack_write(enum pack how, FILE *below);
/* Reads a descriptor, compressed or not, and closes it with the FILE. Reading fails with EBADMSG where the data are
 * damaged. NULL: no memory; the descriptor is closed. */
FILE *pack_read(int fd);
