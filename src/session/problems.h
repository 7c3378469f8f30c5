// SPDX-License-Identifier: Apache-2.0
/* problems.h - problems at places of the script, counted in the map `problems`. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct image_record;
struct out;
struct shared;
struct str;

/* Reports the first problem at a place. reads: also report reads of memory that failed. */
void problem_first(struct out *o, const struct shared *shared, const struct image *img, const struct image_record *r,
	bool reads);
/* Appends the places of full maps, as "at x.bt:3:5 @a[1]". */
void problems_full(const struct shared *shared, const struct image *const *images, size_t n, struct str *out);
/* At the end, reports the counts, a line for each kind. Returns the number of events that were not decided. */
uint64_t problems_report(const struct shared *shared, const struct image *const *images, size_t n);
