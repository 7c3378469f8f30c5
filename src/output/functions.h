// SPDX-License-Identifier: Apache-2.0
/* functions.h - how much of a recorded map each function has: alone, and with what it calls. Numbers are exact: a
 * function that is several times in a stack counts once. */
#pragma once
#include "recording.h"

struct function_total {
	const char *name; /* as it is shown; the recording's */
	enum frame_kind kind;
	uint64_t self, total, self_before, total_before;
	uint64_t entry; /* the last that it was counted in, + 1 */
};

struct functions;

struct functions *functions_new(const struct recording *r, const struct recorded_map *m);
/* What it is compared with. */
void functions_add_before(struct functions *f, const struct recording *r, const struct recorded_map *m);
void functions_free(struct functions *f);
/* By total, the largest first. */
void functions_sort(struct functions *f);
size_t functions_count(const struct functions *f);
const struct function_total *functions_at(const struct functions *f, size_t i);
