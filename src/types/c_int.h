// SPDX-License-Identifier: Apache-2.0
/* c_int.h - the integer types that C itself has. */
#pragma once

struct arena;
struct type;

/* "int", "unsigned long", "long unsigned int", "_Bool"..; sizes are Linux' of 64 bits. NULL: it is none. */
const struct type *c_int(struct arena *a, const char *name);
