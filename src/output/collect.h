// SPDX-License-Identifier: Apache-2.0
/* collect.h - shared by the rows of output/ that make one file of all maps keyed by stacks: the maps are
 * collected in a recording, which render() gets at the end. Other output goes to stderr. */
#pragma once
#include "output.h"

void collect_begin(struct out *o, const struct image *img); /* warns if a script has no such map */
void collect_text(struct out *o, const char *kind, const char *text, size_t size);
void collect_value(struct out *o, const struct type *t, const uint8_t *data);
void collect_map(struct out *o, const struct map_content *m);
void collect_finish(struct out *o);

#define COLLECTS                                                                             \
	.content = OUTPUT_STACKS,                                                            \
	.begin = collect_begin, .text = collect_text, .value = collect_value, .map = collect_map, \
	.event = output_event_log, .finish = collect_finish

/* Reports the omitted entries of a map. */
struct recorded_map;
void collect_warn(const struct recorded_map *m);
