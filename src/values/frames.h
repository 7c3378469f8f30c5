// SPDX-License-Identifier: Apache-2.0
/* frames.h - a stack as the list of frames that is shown: named, with those that were inlined,
 * up to its limit. Several stacks can be one list: what they differ in is left out. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/unwinders.h"

struct image_map;
struct map_entry;
struct show;
struct type;

struct shown_frame {
	struct frame_name name; /* strings are owned by the unwinders, as unwinders_name()'s */
	uint64_t frame;         /* as in the stack */
	uint32_t last_line;     /* name.line is the first; equal: one line */
	bool inexact;           /* offset and column differ among the stacks */
};

struct frame_list {
	struct shown_frame *data; /* innermost first; owned */
	size_t len, cap;
	enum unwind_end end;      /* UNWIND_LOST: the frames never came */
};

/* Of a TYPE_STACK value. To be frames_done(). */
void frames_get(const struct show *s, const struct type *t, uint64_t id, struct frame_list *ret);
void frames_done(struct frame_list *l);

/* The stack at that offset of a map entry's key; where several keys are one entry, of all of them. */
void frames_of_entry(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *ret);
/* All stacks of the key as one list: the kernel's frames first, as called from the user's. */
void frames_of_key(const struct show *s, const struct image_map *m, const struct map_entry *e,
	struct frame_list *ret);

/* Which member of a key this is. */
enum key_part { PART_OTHER, PART_USER, PART_KERNEL };
enum key_part key_part(const struct type *t);

/* Equal for stacks that are one entry of a map, by the mode of t; 128 bits, so that different stacks
 * do not collide. */
struct frames_key {
	uint64_t a, b;
};
void frames_key_function(struct frames_key *k, const struct frame_name *f);
void frames_key_add(struct frames_key *k, const void *data, size_t size);
void frames_key_stack(const struct show *s, const struct type *t, uint64_t id,
	struct frames_key *k);

/* Merges another stack with the same key: what differs becomes a range or inexact. */
void frames_widen(struct frame_list *l, const struct frame_list *other);
