// SPDX-License-Identifier: Apache-2.0
/* lines.c - reads any bytes as a line table and its strings: rows of some addresses, and paths of files. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "unwinders/native/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_sections s = {.line = {data, size}, .str = {data, size}, .line_str = {data, size}};
	uint64_t vaddrs[32];
	struct line_row rows[32] = {};

	for (unsigned i = 0; i < 32; i++)
		vaddrs[i] = 0x1000 + i * 7;
	lines_find(&s, 0, vaddrs, 32, rows);
	for (unsigned i = 0; i < 8; i++) {
		struct str path = {};

		if (lines_file(&s, 0, rows[i].found ? rows[i].file : i, i & 1 ? "/home" : NULL, &path) &&
			strlen(str_text(&path)) != path.len)
			abort();
		str_done(&path);
	}
	return 0;
}
