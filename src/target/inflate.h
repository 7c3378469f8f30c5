// SPDX-License-Identifier: Apache-2.0
/* inflate.h - contents of compressed ELF sections. The data are untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether size bytes could come from n compressed ones: a limit for hostile files. */
bool inflate_is_likely(uint64_t size, size_t n);
/* Unpack exactly size bytes to ret. Return false if the data are damaged, or of another size. */
bool inflate_zlib(const uint8_t *data, size_t n, uint8_t *ret, size_t size);
bool inflate_zstd(const uint8_t *data, size_t n, uint8_t *ret, size_t size);
