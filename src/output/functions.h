// SPDX-License-Identifier: Apache-2.0
/* functions.h - two shares of each function in a recorded map: its own, and its own with its callees'. Numbers
 * are exact: a function that occurs several times in a stack counts once. */
#pragma once
#include "recording.h"

struct function_total {
	const char *name; /* as shown; owned by the recording */
	enum frame_kind kind;
	uint64_t self, total, self_before, total_before;
	size_t order;    /* its place among those found: of one stack, the innermost is first */
	uint64_t stacks; /* hash of its entries */
	bool is_own;     /* it belongs to the program */
	bool is_wrapper; /* another function has the same entries, and comes first */
	uint64_t entry; /* last entry in which it was counted, + 1 */
};

struct functions;

struct functions *functions_new(const struct recording *r, const struct recorded_map *m);
/* Adds the map with which the first is compared. */
void functions_add_before(struct functions *f, const struct recording *r, const struct recorded_map *m);
void functions_free(struct functions *f);
/* Sorts by total, the largest first: first the program's own functions, then libraries, last wrappers. Functions with
 * the same entries call each other: all but the innermost of the program's own ones, else the innermost, are
 * wrappers. */
void functions_sort(struct functions *f);
size_t functions_count(const struct functions *f);
const struct function_total *functions_at(const struct functions *f, size_t i);
