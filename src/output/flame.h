// SPDX-License-Identifier: Apache-2.0
/* flame.h - flame graphs of a recording: one graph of all its maps, or of one map. */
#pragma once
#include "graph.h"

struct picture;

struct flame {
	struct graph drawn, data; /* data: split by line, if lines are known */
	struct profile *functions, *lines; /* owned; lines may be NULL */
	char title[160];         /* "@bytes, @calls" */
};

/* Draws all maps; if there are several, each is under a frame with its name. */
void flame_of_all(const struct picture *p, struct flame *ret);
/* before: the map with which it is compared, or NULL. */
void flame_of_map(const struct picture *p, struct recorded_map *m, struct recorded_map *before,
	struct flame *ret);
void flame_done(struct flame *f);
/* Returns the map with that name in the recording with which this one is compared, or NULL if there
 * is none, or no comparison. */
struct recorded_map *flame_before(const struct picture *p, const struct recorded_map *m);
