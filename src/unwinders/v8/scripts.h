// SPDX-License-Identifier: Apache-2.0
/* scripts.h - what is known of the scripts of all processes: names, lines, source maps. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "sourcemap.h"

struct texts;
struct v8_heap;

struct v8_script {
	const char *name;    /* NULL: it has none */
	const int32_t *ends; /* of its lines; NULL: not to be had */
	size_t nends;
	int32_t first_line, first_column; /* where it begins in what it is a part of */
	const struct sourcemap *map; /* NULL: it has none, or nobody asked */
	unsigned tries;
};

struct v8_scripts;

/* texts: for the scripts' names; outlives it. NULL: no memory. */
struct v8_scripts *v8_scripts_new(struct texts *texts);
void v8_scripts_free(struct v8_scripts *c);
/* From now on. files is copied. */
void v8_scripts_use_source_maps(struct v8_scripts *c, const struct sourcemap_files *files);
/* A Script of that process, valid until the next call; NULL: it is none. */
const struct v8_script *v8_script_of(struct v8_scripts *c, const struct v8_heap *h, uint32_t pid, uint64_t script);
