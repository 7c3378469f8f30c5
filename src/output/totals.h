/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h - sums of maps that are emptied when they are printed (config window, print() and clear() in one block), for
 * formats whose values count from the start of the script. */
#pragma once
#include <stdint.h>

struct image_map;
struct map_content;
struct totals;

/* begun: CLOCK_REALTIME ns from which on values count. */
struct totals *totals_new(uint64_t begun);
void totals_free(struct totals *t);
/* Returns the content with the sums of what was taken before. Values that were taken now are part of later sums. Values
 * that have no sum (numbers, min()..) and those of maps that were never taken are returned as they are. From the
 * 2,001st key on, new keys share one entry at the end, whose key is NULL. Call totals_content_done() with both. */
struct map_content totals_add(struct totals *t, const struct map_content *c);
void totals_content_done(struct map_content *sum, const struct map_content *c);
/* Returns the time from which on the map's present values count: that of totals_begin(), or `begun`. */
uint64_t totals_begun(const struct totals *t, const struct image_map *m);
void totals_begin(struct totals *t, const struct image_map *m, uint64_t ns);
