// SPDX-License-Identifier: Apache-2.0
/* functions.h - two shares of each function in a recorded map: its own, and its own with its callees'. Numbers
 * are exact: a function that occurs several times in a stack counts once. */
#pragma once
#include "recording.h"

struct function_total {
	const char *name; /* as shown; owned by the recording */
	enum frame_kind kind;
	uint64_t self, total, self_before, total_before;
	uint64_t entry; /* last entry in which it was counted, + 1 */
};

struct functions;

struct functions *functions_new(const struct recording *r, const struct recorded_map *m);
/* Adds the map with which the first is compared. */
void functions_add_before(struct functions *f, const struct recording *r, const struct recorded_map *m);
void functions_free(struct functions *f);
/* Sorts by total, the largest first. */
void functions_sort(struct functions *f);
size_t functions_count(const struct functions *f);
const struct function_total *functions_at(const struct functions *f, size_t i);
