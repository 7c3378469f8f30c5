// SPDX-License-Identifier: Apache-2.0
/* frames.h - a stack as the list of frames that is shown: named, with those that were inlined,
 * up to its limit. Several stacks can be one list: what they differ in is left out. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/unwinders.h"

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

/* Equal for stacks that are one where a map aggregates by them, as the mode of t says; 128 bits,
 * so that others do not collide. */
struct frames_key {
	uint64_t a, b;
};
void frames_key_function(struct frames_key *k, const struct frame_name *f);
void frames_key_add(struct frames_key *k, const void *data, size_t size);
void frames_key_stack(const struct show *s, const struct type *t, uint64_t id,
	struct frames_key *k);

/* Another stack of the same key joins the list. */
void frames_widen(struct frame_list *l, const struct frame_list *other);
