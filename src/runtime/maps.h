// SPDX-License-Identifier: Apache-2.0
/* maps.h - the script's maps: read, printed, cleared. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bpf_object;
struct image_map;
struct show;

struct map_print {
	int64_t top; /* at most so many, the largest; 0: all */
	int64_t div; /* values are divided; 0: by 1 */
	bool unset;  /* a scalar that was never set, too */
};

/* Prints one map in bpftrace's order: ascending by value, equal ones by key. How many
 * elements it had, or -errno. */
int map_print(const struct show *s, struct bpf_object *obj, const struct image_map *m,
	const struct map_print *how, FILE *out);
int map_clear(struct bpf_object *obj, const struct image_map *m);
int map_zero(struct bpf_object *obj, const struct image_map *m);
