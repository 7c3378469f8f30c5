// SPDX-License-Identifier: Apache-2.0
/* frames.h - a stack as the list of frames that is shown: named, with inlined functions, up to its limit.
 * Several stacks can be one list, which omits their differences. */
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
	struct frame_name name; /* the unwinders own the strings, as in unwinders_name() */
	uint64_t frame;         /* the frame in the stack */
	uint32_t last_line;     /* name.line is the first line; equal: one line */
	bool inexact;           /* offset and column differ between the stacks */
};

struct frame_list {
	struct shown_frame *data; /* innermost first; owned */
	size_t len, cap;
	enum unwind_end end;      /* UNWIND_LOST: the frames were never received */
};

/* Returns the frames of a TYPE_STACK value. Call frames_done(). */
void frames_get(const struct show *s, const struct type *t, uint64_t id, struct frame_list *ret);
void frames_done(struct frame_list *l);

/* Returns the stack at an offset of a map entry's key; if several keys are merged, that of all of them. */
void frames_of_entry(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *ret);
/* Appends a part of the key that is not a stack: of several addresses the first one and their number. */
struct str;
void frames_add_other(const struct show *s, const struct type *t, const struct map_entry *e, uint32_t at,
	struct str *out);
/* Returns all stacks of the key as one list: the kernel's frames first, because user frames call them. */
void frames_of_key(const struct show *s, const struct image_map *m, const struct map_entry *e,
	struct frame_list *ret);

/* The kind of a key's member. */
enum key_part { PART_OTHER, PART_USER, PART_KERNEL };
enum key_part key_part(const struct type *t);

/* Equal for stacks that are one entry of a map, by the mode of t; 128 bits, so that
 * different stacks do not collide. */
struct frames_key {
	uint64_t a, b;
};
/* Returns "<jit>" for compiled code without names, "<regexp>" for that of V8, which are one function; else NULL. */
const char *frames_jit_name(const struct frame_name *f);
void frames_key_function(struct frames_key *k, const struct frame_name *f);
void frames_key_add(struct frames_key *k, const void *data, size_t size);
/* Keys of frames, for all stacks of a map that is being printed. free() it. Returns NULL if there is no memory. */
struct frames_memo *frames_memo_new(void);
/* memo: NULL, or one that had the same show each time. The key is the same with it. */
void frames_key_stack(const struct show *s, const struct type *t, uint64_t id, struct frames_memo *memo,
	struct frames_key *k);

/* Merges another stack with the same key: differences become a range or inexact. */
void frames_widen(struct frame_list *l, const struct frame_list *other);
