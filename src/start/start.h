// SPDX-License-Identifier: Apache-2.0
/* start.h - makes an image that was compiled elsewhere fit this machine: expands its attach points, compares its facts
 * (model/facts.h), and fills the holes of its code. */
#pragma once
#include <stdbool.h>

struct image;
struct request;

/* req has everything but diags, which are made here; img and its lists are changed, and get memory from req's arena.
 * Returns false after an error that names the place in the script and what differs here. */
bool start_image(const struct request *req, struct image *img);
/* Fills only the holes, for an image that was compiled here and now. */
bool start_fill(const struct request *req, struct image *img);
/* Does the same as start_image(), but prints nothing: for an image of the cache, in whose place the script can be
 * compiled, which says what there is to say. Returns false if it would have printed something. */
bool start_silently(const struct request *req, struct image *img);
