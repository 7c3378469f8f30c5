// SPDX-License-Identifier: Apache-2.0
/* scripts.h - the scripts of all processes: names, lines, source maps. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "sourcemap.h"

struct texts;
struct v8_heap;

struct v8_script {
	const char *name;    /* NULL: the script has none */
	const int32_t *ends; /* ends of its lines; NULL: not available */
	size_t nends;
	int32_t first_line, first_column; /* its place in the text that contains it */
	const struct sourcemap *map; /* NULL: none, or not requested */
	unsigned tries;
};

struct v8_scripts;

/* texts: for the scripts' names; must live longer. Returns NULL if there is no memory. */
struct v8_scripts *v8_scripts_new(struct texts *texts);
void v8_scripts_free(struct v8_scripts *c);
/* Uses source maps from now on. files is copied. */
void v8_scripts_use_source_maps(struct v8_scripts *c, const struct sourcemap_files *files);
/* Returns a Script of a process, valid until the next call, or NULL if it is not a Script. */
const struct v8_script *v8_script_of(struct v8_scripts *c, const struct v8_heap *h, uint32_t pid, uint64_t script);
