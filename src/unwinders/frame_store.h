// SPDX-License-Identifier: Apache-2.0
/* frame_store.h - the names of frames of a LANG_FRAME language, by frame. The kernel half sends a frame that is still
 * in use again from time to time. The store keeps two generations, each of as many frames as fit into an eighth of the
 * memory: when the new one is full, it becomes the old one, and frames that were not sent since then are forgotten.
 * Names that were used are kept elsewhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "idmap.h"

struct arena;
struct frame_name;

struct frame_store {
	struct frame_generation {
		struct arena *arena; /* of the names, and of the functions into which they were inlined */
		struct idmap names;  /* frame -> struct frame_name * */
	} frames, before;
};

/* Sets how many frames all stores keep. memory: bytes that the process may use; 0: no limit. */
void frame_store_limit(uint64_t memory);
void frame_store_open(struct frame_store *s);
void frame_store_done(struct frame_store *s);
/* Returns NULL if the frame is unknown. Valid until the next frame_store_add(). */
const struct frame_name *frame_store_find(const struct frame_store *s, uint64_t frame);
/* Returns NULL if the frame has a name of this generation. Else returns its name: that of the generation before, with
 * *ret_known true; or one of zeros that the caller sets, with *ret_known false. The callers of a name belong into
 * s->frames.arena. */
struct frame_name *frame_store_add(struct frame_store *s, uint64_t frame, bool *ret_known);
