// SPDX-License-Identifier: Apache-2.0
/* sourcemap.h - where code that a compiler or a bundler wrote came from: ECMA-426, "source
 * maps", as a script's last line names them (//# sourceMappingURL=). All of it is untrusted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/lang.h"

struct sourcemap;

/* Of a map's text (JSON). base: what its sources' paths are relative to, "/srv/dist/", or "".
 * NULL: it is none, is larger than anybody's, or the library that reads JSON is not there. */
struct sourcemap *sourcemap_new(const char *text, size_t size, const char *base);
void sourcemap_free(struct sourcemap *m);

/* Lines and columns from 1 on; strings live as long as the map. */
struct mapped_position {
	const char *file, *name; /* name: what is called so there, or NULL */
	uint32_t line, column;
	bool exact;              /* what was asked for is where a piece begins */
};
bool sourcemap_find(const struct sourcemap *m, uint32_t line, uint32_t column, struct mapped_position *ret);

/* A map's text by its URL: "data:...;base64,...", or a file, relative to the script's. To be
 * free()d, as *ret_base; NULL. */
char *sourcemap_text(const struct sourcemap_files *files, int pid, const char *script, const char *url,
	size_t *ret_size, char **ret_base);
