// SPDX-License-Identifier: Apache-2.0
/* maps.h - the script's maps: read, printed, cleared. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct bpf_object;
struct image_map;
struct show;

/* Prints one map in bpftrace's order: ascending by value, equal ones by key.
 * top: at most so many, the largest (0: all); div: values divided (0: 1). */
int map_print(const struct show *s, struct bpf_object *obj, const struct image_map *m,
	int64_t top, int64_t div, FILE *out);
int map_clear(struct bpf_object *obj, const struct image_map *m);
int map_zero(struct bpf_object *obj, const struct image_map *m);
