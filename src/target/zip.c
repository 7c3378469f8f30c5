// SPDX-License-Identifier: Apache-2.0
/* zip.c - finds members of zip archives. */
#include "zip.h"

#include <stdbool.h>
#include <string.h>

/* Signatures, and the sizes of parts with a fixed size. */
enum {
	ZIP_LOCAL = 0x04034b50, ZIP_LOCAL_SIZE = 30,
	ZIP_ENTRY = 0x02014b50, ZIP_ENTRY_SIZE = 46,
	ZIP_END = 0x06054b50, ZIP_END_SIZE = 22,
	ZIP_COMMENT_MAX = 65535,
	ZIP_ENCRYPTED = 1, ZIP_METHOD_STORED = 0,
};

struct archive {
	const uint8_t *data;
	size_t size;
};

static bool has(const struct archive *z, size_t at, size_t size)
{
	return at <= z->size && size <= z->size - at;
}

static uint16_t u16(const struct archive *z, size_t at)
{
	uint16_t v;

	memcpy(&v, z->data + at, sizeof(v));
	return v;
}

static uint32_t u32(const struct archive *z, size_t at)
{
	uint32_t v;

	memcpy(&v, z->data + at, sizeof(v));
	return v;
}

/* Finds the end of the central directory. A comment of any length follows it, and may look like one. */
static bool find_end(const struct archive *z, size_t *ret)
{
	if (z->size < ZIP_END_SIZE)
		return false;
	for (size_t back = ZIP_END_SIZE; back <= ZIP_END_SIZE + ZIP_COMMENT_MAX && back <= z->size; back++) {
		*ret = z->size - back;
		if (u32(z, *ret) == ZIP_END && u16(z, *ret + 20) == back - ZIP_END_SIZE)
			return true;
	}
	return false;
}

/* Finds the member's bytes for an entry of the directory. */
static enum zip_found member_of(const struct archive *z, size_t entry, size_t *ret_at, size_t *ret_size)
{
	size_t local = u32(z, entry + 42);

	if (u16(z, entry + 10) != ZIP_METHOD_STORED || u16(z, entry + 8) & ZIP_ENCRYPTED)
		return ZIP_COMPRESSED;
	if (!has(z, local, ZIP_LOCAL_SIZE) || u32(z, local) != ZIP_LOCAL)
		return ZIP_NONE;
	*ret_at = local + ZIP_LOCAL_SIZE + u16(z, local + 26) + u16(z, local + 28);
	*ret_size = u32(z, entry + 24);
	return has(z, *ret_at, *ret_size) ? ZIP_STORED : ZIP_NONE;
}

enum zip_found zip_member(const uint8_t *data, size_t size, const char *name, size_t *ret_at, size_t *ret_size)
{
	struct archive z = {data, size};
	size_t end, at, len = strlen(name), entries;

	if (!find_end(&z, &end))
		return ZIP_NONE;
	entries = u16(&z, end + 10);
	at = u32(&z, end + 16);
	for (size_t i = 0; i < entries && has(&z, at, ZIP_ENTRY_SIZE) && u32(&z, at) == ZIP_ENTRY; i++) {
		size_t own = u16(&z, at + 28);

		if (own == len && has(&z, at + ZIP_ENTRY_SIZE, len) && !memcmp(data + at + ZIP_ENTRY_SIZE, name, len))
			return member_of(&z, at, ret_at, ret_size);
		at += ZIP_ENTRY_SIZE + own + u16(&z, at + 30) + u16(&z, at + 32);
	}
	return ZIP_NONE;
}
