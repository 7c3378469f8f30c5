// SPDX-License-Identifier: Apache-2.0
/* pack.c - see pack.h. Only this file uses zlib and libzstd. */
#include "pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { GZIP = 16, ANY = 32 /* added to windowBits */, LEVEL = 6, MEMORY = 8, PIECE = 64 * 1024 };

static const struct {
	const char *ending, *magic;
} formats[] = {
	[PACK_NONE] = {NULL, ""},
	[PACK_GZIP] = {".gz", "\x1f\x8b"},
	[PACK_ZSTD] = {".zst", "\x28\xb5\x2f\xfd"},
};

enum pack pack_by_name(const char *file, size_t *ret_len)
{
	size_t n = file ? strlen(file) : 0;

	for (int i = PACK_GZIP; i <= PACK_ZSTD; i++) {
		*ret_len = strlen(formats[i].ending);
		if (n > *ret_len && !strcmp(file + n - *ret_len, formats[i].ending))
			return (enum pack)i;
	}
	*ret_len = 0;
	return PACK_NONE;
}

/* ---- writing ------------------------------------------------------------- */

struct packing {
	enum pack how;
	z_stream z;
	ZSTD_CCtx *zstd;
	FILE *below;
	unsigned char piece[PIECE];
};

static bool put(struct packing *p, size_t n)
{
	return fwrite(p->piece, 1, n, p->below) == n;
}

static bool deflate_some(struct packing *p, const char *data, size_t n, bool last)
{
	p->z.next_in = (unsigned char *)data;
	p->z.avail_in = (uInt)n;
	do {
		p->z.next_out = p->piece;
		p->z.avail_out = PIECE;
		if (deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR || !put(p, PIECE - p->z.avail_out))
			return false;
	} while (!p->z.avail_out);
	return true;
}

static bool zstd_some(struct packing *p, const char *data, size_t n, bool last)
{
	ZSTD_inBuffer in = {data, n, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {p->piece, PIECE, 0};

		left = ZSTD_compressStream2(p->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left) || !put(p, out.pos))
			return false;
	} while (last ? left : in.pos < n);
	return true;
}

static bool pack_some(struct packing *p, const char *data, size_t n, bool last)
{
	if (p->how == PACK_GZIP)
		return deflate_some(p, data, n, last);
	if (p->how == PACK_ZSTD)
		return zstd_some(p, data, n, last);
	return fwrite(data, 1, n, p->below) == n;
}

static ssize_t write_some(void *cookie, const char *data, size_t n)
{
	return pack_some(cookie, data, n, false) ? (ssize_t)n : 0;
}

static void free_packing(struct packing *p)
{
	if (p->how == PACK_GZIP)
		deflateEnd(&p->z);
	ZSTD_freeCCtx(p->zstd);
	free(p);
}

static int write_end(void *cookie)
{
	bool done = pack_some(cookie, "", 0, true);

	free_packing(cookie);
	return done ? 0 : -1;
}

FILE *pack_write(enum pack how, FILE *below)
{
	struct packing *p = calloc(1, sizeof(*p));
	FILE *f = NULL;
	bool ok = p;

	if (!p)
		return NULL;
	p->below = below;
	p->how = how;
	if (how == PACK_GZIP)
		ok = deflateInit2(&p->z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
	else if (how == PACK_ZSTD)
		ok = (p->zstd = ZSTD_createCCtx()) != NULL;
	if (ok)
		f = fopencookie(p, "w", (cookie_io_functions_t){.write = write_some, .close = write_end});
	if (!f)
		free_packing(p);
	else
		setvbuf(f, NULL, _IOFBF, PIECE);
	return f;
}

/* ---- reading ------------------------------------------------------------- */

struct unpacking {
	enum pack how;
	int fd;
	bool known, ended; /* known: the compression is known; ended: the file has ended */
	bool within;       /* a compressed part has begun, and has not ended */
	z_stream z;
	ZSTD_DCtx *zstd;
	size_t at, n;      /* bytes that were read but not used: piece[at..n) */
	char piece[PIECE];
};

static bool fill(struct unpacking *u)
{
	ssize_t r = 1;

	memmove(u->piece, u->piece + u->at, u->n - u->at);
	u->n -= u->at;
	u->at = 0;
	while (!u->ended && u->n < (u->known ? 1 : 4)) {
		r = read(u->fd, u->piece + u->n, PIECE - u->n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return false;
		u->ended = !r;
		u->n += (size_t)r;
	}
	return true;
}

static bool choose(struct unpacking *u)
{
	u->known = true;
	for (int i = PACK_GZIP; i <= PACK_ZSTD; i++) {
		size_t n = strlen(formats[i].magic);

		if (u->n >= n && !memcmp(u->piece, formats[i].magic, n))
			u->how = (enum pack)i;
	}
	errno = ENOMEM;
	if (u->how == PACK_GZIP)
		return inflateInit2(&u->z, MAX_WBITS + ANY) == Z_OK;
	return u->how != PACK_ZSTD || (u->zstd = ZSTD_createDCtx());
}

/* A file may consist of several that were compressed separately. Returns the number of bytes;
 * negative: the data are damaged. */
static ssize_t inflate_some(struct unpacking *u, char *data, size_t n)
{
	int r;

	if (!u->within && inflateReset(&u->z) != Z_OK)
		return -1;
	u->z.next_in = (unsigned char *)u->piece + u->at;
	u->z.avail_in = (uInt)(u->n - u->at);
	u->z.next_out = (unsigned char *)data;
	u->z.avail_out = (uInt)n;
	r = inflate(&u->z, Z_NO_FLUSH);
	u->at = u->n - u->z.avail_in;
	u->within = r != Z_STREAM_END;
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? (ssize_t)(n - u->z.avail_out) : -1;
}

static ssize_t unzstd_some(struct unpacking *u, char *data, size_t n)
{
	ZSTD_inBuffer in = {u->piece + u->at, u->n - u->at, 0};
	ZSTD_outBuffer out = {data, n, 0};
	size_t left = ZSTD_decompressStream(u->zstd, &out, &in);

	u->at += in.pos;
	u->within = left != 0;
	return ZSTD_isError(left) ? -1 : (ssize_t)out.pos;
}

static ssize_t copy_some(struct unpacking *u, char *data, size_t n)
{
	size_t most = u->n - u->at < n ? u->n - u->at : n;

	memcpy(data, u->piece + u->at, most);
	u->at += most;
	return (ssize_t)most;
}

static ssize_t read_some(void *cookie, char *data, size_t n)
{
	struct unpacking *u = cookie;
	ssize_t r = 0;

	n = n > PIECE ? PIECE : n;
	while (!r) {
		if (!fill(u) || (!u->known && !choose(u)))
			return -1;
		if (u->at == u->n && u->ended && (u->how == PACK_NONE || !u->within))
			return 0;
		r = u->how == PACK_GZIP ? inflate_some(u, data, n) : u->how == PACK_ZSTD ? unzstd_some(u, data, n) :
			copy_some(u, data, n);
		if (r < 0 || (!r && u->ended && u->at == u->n && u->within)) {
			errno = EBADMSG;
			return -1;
		}
	}
	return r;
}

static int read_end(void *cookie)
{
	struct unpacking *u = cookie;

	if (u->how == PACK_GZIP)
		inflateEnd(&u->z);
	ZSTD_freeDCtx(u->zstd);
	close(u->fd);
	free(u);
	return 0;
}

FILE *pack_read(int fd)
{
	struct unpacking *u = calloc(1, sizeof(*u));
	FILE *f = u ? fopencookie(u, "r", (cookie_io_functions_t){.read = read_some, .close = read_end}) : NULL;

	if (!f) {
		close(fd);
		free(u);
		return NULL;
	}
	u->fd = fd;
	setvbuf(f, NULL, _IOFBF, PIECE);
	return f;
}
