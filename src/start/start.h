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
