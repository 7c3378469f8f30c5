/* SPDX-License-Identifier: Apache-2.0 */
/* namespace.h - warns about features that do not work in a container. */
#pragma once
#include <stdbool.h>

struct image;
struct target;

/* Prints the warnings. one: -p or -c selects the traced process. */
void namespace_warn(struct target *t, const struct image *img, bool one);
