// SPDX-License-Identifier: Apache-2.0
/* sourcemap.c - reads any text as a source map (JSON, mappings, paths, sections), and as a URL that
 * contains one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/v8/sourcemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int no_file(void *arg, int pid, const char *path)
{
	return *path == '/' ? -2 : -22;
}

static void look_up(const char *text, size_t size, const char *base)
{
	struct sourcemap *m = sourcemap_new(text, size, base);
	struct mapped_position place;

	for (uint32_t line = 0; m && line < 8; line++)
		for (uint32_t column = 0; column < 64; column += 3)
			if (sourcemap_find(m, line, column, &place) && (!place.line || !place.column || !place.file))
				abort();
	sourcemap_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sourcemap_files files = { no_file, NULL };
	char *text, *base = NULL, *url = malloc(size + 1);
	size_t n;

	look_up((const char *)data, size, "/srv/dist/");
	if (!url)
		return 0;
	memcpy(url, data, size);
	url[size] = '\0';
	text = sourcemap_text(&files, 1, "/srv/dist/a.js", url, &n, &base);
	if (text && base)
		look_up(text, n, base);
	free(text);
	free(base);
	free(url);
	return 0;
}
