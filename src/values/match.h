// SPDX-License-Identifier: Apache-2.0
/* match.h - has_frame(): frames by the pattern of a function's name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct frame_list;
struct frame_name;
struct frame_pattern;
struct show;
struct type;

/* Returns whether the function is called so: by the name that is shown; in C++ also by the name without its
 * parameters, in Python also by module.name, where module is the end of the file's path. */
bool frame_matches(const struct frame_name *f, const struct frame_pattern *p);
bool frames_match(const struct frame_list *l, const struct frame_pattern *p);
/* Returns the truth of has_frame(). t: its type; id: of the stack. */
bool frames_have(const struct show *s, const struct type *t, uint64_t id);
