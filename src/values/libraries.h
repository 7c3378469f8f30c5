// SPDX-License-Identifier: Apache-2.0
/* libraries.h - whose frames are shown: --hide and --only. A pattern matches the path of a frame's ELF file or source
 * file, as "django*", or the file's name up to ".so", as "libc"; '*' is any text. */
#pragma once
#include <stdbool.h>

#include "base/vec.h"

struct frame_name;

/* Patterns are not owned. */
struct libraries {
	VEC(const char *) hidden, only;
};

/* Is the frame left out? */
bool libraries_hide(const struct libraries *l, const struct frame_name *f);
void libraries_done(struct libraries *l);
