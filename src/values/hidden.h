// SPDX-License-Identifier: Apache-2.0
/* hidden.h - the frames that --hide and --only select. A pattern matches the path of a frame's ELF file or
 * source file, such as "django*", or the file's name up to ".so", such as "libc"; '*' is any text. */
#pragma once
#include <stdbool.h>

#include "base/vec.h"

struct frame_name;

/* The caller owns the patterns. */
struct libraries {
	VEC(const char *) hidden, only;
};

/* Returns whether the frame is omitted. */
bool libraries_hide(const struct libraries *l, const struct frame_name *f);
void libraries_done(struct libraries *l);
