// SPDX-License-Identifier: Apache-2.0
/* inflate.c - unpacks sections by zlib and libzstd. libdeflate is twice as fast as zlib, and is used where it is
 * installed. */
#include "inflate.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "base/library.h"

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

/* Functions of libdeflate.so.0, which need no other type: libdeflate.h, libdeflate 1.14. */
struct deflate {
	void *(*alloc)(void);
	int (*zlib)(void *decompressor, const void *in, size_t in_size, void *out, size_t out_size, size_t *ret_size);
	void (*free)(void *decompressor);
};

static const struct deflate *deflate_library(void)
{
	static struct deflate d;
	static bool tried, ok;
	void *library = tried ? NULL : library_open("libdeflate.so.0");

	if (library) {
		d.alloc = (void *(*)(void))library_symbol(library, "libdeflate_alloc_decompressor");
		d.zlib = (int (*)(void *, const void *, size_t, void *, size_t, size_t *))library_symbol(library,
			"libdeflate_zlib_decompress");
		d.free = (void (*)(void *))library_symbol(library, "libdeflate_free_decompressor");
		ok = d.alloc && d.zlib && d.free;
	}
	tried = true;
	return ok ? &d : NULL;
}

/* Returns false also if the library is missing. */
static bool inflate_fast(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
{
	const struct deflate *d = deflate_library();
	void *decompressor = d ? d->alloc() : NULL;
	size_t done = 0;
	bool ok;

	if (!decompressor)
		return false;
	ok = !d->zlib(decompressor, data, n, ret, size, &done) && done == size;
	d->free(decompressor);
	return ok;
}

static bool inflate_slowly(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
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

bool inflate_zlib(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
{
	return inflate_fast(data, n, ret, size) || inflate_slowly(data, n, ret, size);
}

bool inflate_zstd(const uint8_t *data, size_t n, uint8_t *ret, size_t size)
{
	return ZSTD_decompress(ret, size, data, n) == size;
}
