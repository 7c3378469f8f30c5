// SPDX-License-Identifier: Apache-2.0
/* stack_tree.h - maps keyed by stacks as a tree: callers and callees, and each one's share of the total. Flame
 * graphs, and trees on a terminal, are made from it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

struct profile;

struct profile_node {
	const char *name;      /* "read_page", "handler app.py"; safe for a terminal; owned by the recording */
	enum frame_kind kind;
	uint32_t line;         /* line in the source; 0: unknown, or functions are not split */
	uint64_t self, total;  /* in the unit of the map's values */
	uint64_t before;       /* the total in the recording with which it is compared */
	struct profile_node *parent, *children, *next; /* the widest child first */
	size_t nchildren;
	uint64_t small, small_before; /* totals of children that are too narrow to be nodes */
	size_t nsmall;                /* number of those children */
};

/* by_line: frames of different lines are different nodes. narrowest: the minimum part of the whole for a
 * node; 0: no minimum. Running out of memory ends the program. */
struct profile *profile_new(bool by_line, uint64_t narrowest);
void profile_free(struct profile *p);
/* Adds the outermost 2,000 frames of each stack of a map, under a frame named `top` if it is not NULL. If `keys` is
 * true, parts of keys that are not stacks become the outermost frames. The recording must live as long as the
 * profile. */
void profile_add(struct profile *p, const struct recording *r, const struct recorded_map *m, const char *top,
	bool keys);
/* Adds a map with which the others are compared. */
void profile_add_before(struct profile *p, const struct recording *r, const struct recorded_map *m,
	const char *top, bool keys);
/* Returns the root, whose total is everything. Call it when all maps are added. */
struct profile_node *profile_root(struct profile *p);
/* Returns whether any frame has a line in the source. */
bool profile_has_lines(const struct profile *p);
