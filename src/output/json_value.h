// SPDX-License-Identifier: Apache-2.0
/* json_value.h - values and keys of maps as JSON. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct image_map;
struct map_entry;
struct show;
struct str;
struct type;

/* How values are written. */
struct json_values {
	const struct show *show;
	/* Whose key or value it is, so that a stack in its key is that of all keys that are one entry
	 * (frames.h); NULL: of no map. */
	const struct map_entry *entry;
	const struct image_map *map; /* of the entry */
	int64_t div;                 /* numbers of a map are divided by it; 0, 1: as they are */
	uint64_t last;               /* map_content.last */
	bool frames;                 /* stacks as objects with their frames, not as text */
};

/* The bytes at data as a value of type t, an aggregation too. Integers that a double cannot hold, those
 * beyond 2^53, are strings; bytes of a buffer are 0 to 255. */
void json_value(const struct json_values *w, const struct type *t, const uint8_t *data, struct str *out);
/* What a frame is, by its row in bpf/languages.def: "native", "kernel", "python". */
const char *json_frame_kind(enum frame_lang lang);
/* As the key of an object: a string. Its parts are separated by ",", without spaces. */
void json_key(const struct json_values *w, const struct type *t, const uint8_t *data, struct str *out);
