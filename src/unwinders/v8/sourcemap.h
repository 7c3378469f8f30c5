// SPDX-License-Identifier: Apache-2.0
/* sourcemap.h - the origins of code that a compiler or a bundler wrote: ECMA-426, "source maps", named in a
 * script's last line (//# sourceMappingURL=). All data is untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/lang.h"

struct sourcemap;

/* Reads a map's text (JSON). base: directory of its sources' relative paths, "/srv/dist/", or "". Returns
 * NULL if it is not a map, is too large, or the JSON library is not installed. */
struct sourcemap *sourcemap_new(const char *text, size_t size, const char *base);
void sourcemap_free(struct sourcemap *m);

/* Lines and columns count from 1; strings live as long as the map. */
struct mapped_position {
	const char *file, *name; /* name: the name at that place, or NULL */
	uint32_t line, column;
	bool exact;              /* a piece begins at exactly the requested place */
};
bool sourcemap_find(const struct sourcemap *m, uint32_t line, uint32_t column, struct mapped_position *ret);

/* Reads a map's text by its URL: "data:...;base64,...", or a file, relative to the script's. Returns NULL or
 * a text to be free()d, as is *ret_base. */
char *sourcemap_text(const struct sourcemap_files *files, int pid, const char *script, const char *url,
	size_t *ret_size, char **ret_base);
