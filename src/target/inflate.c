// SPDX-License-Identifier: Apache-2.0
/* inflate.c - unpacks sections by zlib and libzstd. */
#include "inflate.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

/* zlib packs at most 1,032 bytes into one (zlib.net, "Technical Details"). Sections that zstd packs better are
 * not debug information. */
#define RATIO_MAX 1032

bool inflate_is_likely(uint64_t size, size_t n)
{
	return size / RATIO_MAX <= n;
}

static unsigned piece(size_t left)
{
	return left < UINT_MAX ? (unsigned)left : UINT_MAX;
}

bool inflate_zlib(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
{
	z_stream z = {};
	const uint8_t *end = data + n;
	uint8_t *ret_end = ret + size;
	int r = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return false;
	z.next_in = (Bytef *)data;
	z.next_out = ret;
	while (r == Z_OK) {
		z.avail_in = piece((size_t)(end - z.next_in));
		z.avail_out = piece((size_t)(ret_end - z.next_out));
		r = inflate(&z, Z_NO_FLUSH);
	}
	inflateEnd(&z);
	return r == Z_STREAM_END && z.next_out == ret_end;
}

bool inflate_zstd(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
{
	return ZSTD_decompress(ret, size, data, n) == size;
}
