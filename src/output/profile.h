// SPDX-License-Identifier: Apache-2.0
/* profile.h - maps keyed by stacks as a tree: who called whom, and how much each has of the total. Flame
 * graphs, and what is drawn on a terminal, are made of it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

struct profile;

struct profile_node {
	const char *name;      /* "read_page", "handler app.py"; safe for a terminal; the recording's */
	enum frame_kind kind;
	uint32_t line;         /* of the source; 0: not known, or functions are not split */
	uint64_t self, total;  /* in the unit of the map's values */
	uint64_t before;       /* the total in what it is compared with */
	struct profile_node *parent, *children, *next; /* the widest child first */
	size_t nchildren;
	uint64_t small, small_before; /* totals of children that are too narrow to be nodes.. */
	size_t nsmall;                /* ..and how many they are */
};

/* by_line: frames of different lines are different nodes. narrowest: what has less than this part of the whole is no
 * node; 0: all are nodes. Running out of memory ends the program. */
struct profile *profile_new(bool by_line, uint64_t narrowest);
void profile_free(struct profile *p);
/* Adds a map, of each stack the outermost 2,000 frames; under a frame of that name, if it is not NULL. keys: parts
 * of the key that are no stacks are frames, the outermost. The recording lives as long as the profile. */
void profile_add(struct profile *p, const struct recording *r, const struct recorded_map *m, const char *top,
	bool keys);
/* The same of what it is compared with. */
void profile_add_before(struct profile *p, const struct recording *r, const struct recorded_map *m,
	const char *top, bool keys);
/* Once all is added: the root, whose total is everything. */
struct profile_node *profile_root(struct profile *p);
/* Has any frame a line of the source? */
bool profile_has_lines(const struct profile *p);
