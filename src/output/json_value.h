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

/* Options for values. */
struct json_values {
	const struct show *show;
	/* The entry that has the key or value. A stack in its key is written for all keys that are merged
	 * into the entry (frames.h); NULL: not from a map. */
	const struct map_entry *entry;
	const struct image_map *map; /* the entry's map */
	int64_t div;                 /* divides a map's numbers; 0, 1: unchanged */
	uint64_t last;               /* map_content.last */
	bool frames;                 /* stacks are objects with their frames, not text */
};

/* Appends the bytes at data as a value of type t, which may be an aggregation. Integers that a double cannot
 * hold, beyond 2^53, are strings; bytes of a buffer are 0 to 255. */
void json_value(const struct json_values *w, const struct type *t, const uint8_t *data, struct str *out);
/* Returns the kind of a frame, by its row in bpf/languages.def: "native", "kernel", "python". */
const char *json_frame_kind(enum frame_lang lang);
/* Appends a key of an object, which is a string. Its parts are separated by ",", without spaces. */
void json_key(const struct json_values *w, const struct type *t, const uint8_t *data, struct str *out);
