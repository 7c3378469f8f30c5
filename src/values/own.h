/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - the program's own code, as opposed to that of the system, of languages and of packages. */
#pragma once
#include <stdbool.h>

struct frame_list;
struct shown_frame;

/* Returns whether a source file or an ELF file belongs to the system, to a language or to a package. */
bool own_is_library(const char *path);
/* Returns whether the frame belongs to the program. In a stack with frames of an interpreter, native code does not. */
bool own_is_frame(const struct shown_frame *f, bool interpreted);
/* Returns whether a frame of the stack belongs to a language with source files, such as Python. */
bool own_is_interpreted(const struct frame_list *l);
/* Returns the innermost own frame, else the innermost frame with a name, or NULL if there is none. */
const struct shown_frame *own_frame(const struct frame_list *l);
