// SPDX-License-Identifier: Apache-2.0
/* match.h - has_frame(): frames by the pattern of a function's name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct frame_list;
struct frame_name;
struct frame_pattern;

/* Returns whether the function is called so: by the name that is shown; in C++ also by the name without its
 * parameters, in Python also by module.name, where module is the end of the file's path. */
bool frame_matches(const struct frame_name *f, const struct frame_pattern *p);
/* Returns the length of the name without the parameters of a C++ function: of "f" in "f(int)". */
size_t frame_bare_length(const struct frame_name *f);
bool frames_match(const struct frame_list *l, const struct frame_pattern *p);
