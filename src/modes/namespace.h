/* SPDX-License-Identifier: Apache-2.0 */
/* namespace.h - what does not work within a container. */
#pragma once
#include <stdbool.h>

struct image;
struct target;

/* Warns of it. one: -p or -c names what is traced. */
void namespace_warn(struct target *t, const struct image *img, bool one);
