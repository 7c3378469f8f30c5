// SPDX-License-Identifier: Apache-2.0
/* c_int.h - C's own integer types. */
#pragma once

struct arena;
struct type;

/* Returns the type for "int", "unsigned long", "long unsigned int", "_Bool".., with the sizes of 64-bit
 * Linux. Returns NULL for other names. */
const struct type *c_int(struct arena *a, const char *name);
