// SPDX-License-Identifier: Apache-2.0
/* problems.h - what went wrong at places of the script, as the map `problems` counts it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct image;
struct image_record;
struct out;
struct shared;
struct str;

/* The first at a place. reads: reads of memory that failed are reported now, too. */
void problem_first(struct out *o, const struct shared *shared, const struct image *img, const struct image_record *r,
	bool reads);
/* Where maps were full, as "at x.bt:3:5 @a[1]". */
void problems_full(const struct shared *shared, const struct image *const *images, size_t n, struct str *out);
/* At the end: how many there were, a line for each kind. */
void problems_report(const struct shared *shared, const struct image *const *images, size_t n);
