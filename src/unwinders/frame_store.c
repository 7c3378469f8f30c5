// SPDX-License-Identifier: Apache-2.0
/* frame_store.c - see frame_store.h. */
#include "frame_store.h"

#include "base/arena.h"
#include "unwinders.h"

/* Frames of a generation. A frame takes about 130 bytes. */
enum { FRAMES_MIN = 1 << 14, FRAMES_MAX = 1 << 19, FRAME_SHARE = 1024 };

static size_t frames_max = FRAMES_MAX;

void frame_store_limit(uint64_t memory)
{
	size_t n = memory ? memory / FRAME_SHARE : FRAMES_MAX;

	frames_max = n < FRAMES_MIN ? FRAMES_MIN : n < FRAMES_MAX ? n : FRAMES_MAX;
}

static void generation_done(struct frame_generation *g)
{
	idmap_done(&g->names);
	arena_free(g->arena);
}

void frame_store_open(struct frame_store *s)
{
	s->frames.arena = arena_new();
}

void frame_store_done(struct frame_store *s)
{
	generation_done(&s->frames);
	generation_done(&s->before);
}

const struct frame_name *frame_store_find(const struct frame_store *s, uint64_t frame)
{
	const struct frame_name *name = idmap_pointer(&s->frames.names, frame);

	return name ? name : idmap_pointer(&s->before.names, frame);
}

/* Copies a name and its callers. */
static struct frame_name *copy(struct arena *a, const struct frame_name *from)
{
	struct frame_name *first = arena_new_obj(a, struct frame_name), *to = first;

	for (*to = *from; from->caller; from = from->caller) {
		struct frame_name *caller = arena_new_obj(a, struct frame_name);

		*caller = *from->caller;
		to->caller = caller;
		to = caller;
	}
	return first;
}

struct frame_name *frame_store_add(struct frame_store *s, uint64_t frame, bool *ret_known)
{
	const struct frame_name *known;
	struct frame_name *name;

	if (idmap_find(&s->frames.names, frame))
		return NULL;
	if (s->frames.names.n >= frames_max) {
		generation_done(&s->before);
		s->before = s->frames;
		s->frames = (struct frame_generation){.arena = arena_new()};
	}
	known = idmap_pointer(&s->before.names, frame);
	name = known ? copy(s->frames.arena, known) : arena_new_obj(s->frames.arena, struct frame_name);
	idmap_set(&s->frames.names, frame, (uintptr_t)name);
	*ret_known = known;
	return name;
}
