// SPDX-License-Identifier: Apache-2.0
/* zip.h - members of zip archives that are stored uncompressed: Android's linker maps libraries from them.
 *
 * Layout: PKWARE's APPNOTE.TXT 6.3.10, 4.3: local file headers, the central directory, its end. Archives are
 * untrusted. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum zip_found {
	ZIP_NONE,       /* not an archive, or no such member */
	ZIP_COMPRESSED, /* the member is compressed or encrypted, so it cannot be mapped */
	ZIP_STORED,     /* *ret_at and *ret_size are within the archive */
};

/* name has no leading slash. */
enum zip_found zip_member(const uint8_t *data, size_t size, const char *name, size_t *ret_at, size_t *ret_size);
