// SPDX-License-Identifier: Apache-2.0
/* flame.h - flame graphs of a recording: of all its maps in one, or of one of them. */
#pragma once
#include "graph.h"

struct picture;

struct flame {
	struct graph drawn, data; /* data: split by line, where lines are known */
	struct profile *functions, *lines; /* owned; lines may be NULL */
	char title[160];         /* "@bytes, @calls" */
};

/* All maps, each under a frame of its name where they are several. */
void flame_of_all(const struct picture *p, struct flame *ret);
/* before: the map that it is compared with, or NULL. */
void flame_of_map(const struct picture *p, struct recorded_map *m, struct recorded_map *before,
	struct flame *ret);
void flame_done(struct flame *f);
/* The map of that name in what is compared with; NULL: it has none, or nothing is compared. */
struct recorded_map *flame_before(const struct picture *p, const struct recorded_map *m);
