// SPDX-License-Identifier: Apache-2.0
/* frame_names.h - names of frames. */
#pragma once
#include "base/vec.h"
#include "idmap.h"
#include "unwinders.h"

struct files;
struct names;
struct process;
struct stacks;
struct target;

/* lang_names: by enum frame_lang, results of lang.names_new(); NULL: the language has none. */
struct names *names_new(struct target *t, const struct files *fs, void *const *lang_names);
void names_free(struct names *n);

/* Strings live until names_forget(), and as long as their sources. */
void names_frame(struct names *n, uint64_t frame, struct frame_name *ret);
/* Names an address of code: where a function begins it is that function, even if another one was inlined there. */
void names_code(struct names *n, uint64_t frame, struct frame_name *ret);
/* Names those frames of a stack whose files have debug information, if they are not known. This takes less time than
 * one by one. */
void names_stack(struct names *n, const uint64_t *frames, size_t len);
/* Frames that are named at once: each file's symbols are read in one pass, and not kept. */
struct name_list {
	VEC(uint64_t) frames;
	struct idmap listed;
};
/* Adds the frame, unless its name is known or names_frame() is as fast. */
void names_list(const struct names *n, uint64_t frame, struct name_list *l);
/* Names the frames and frees the list. */
void names_frames(struct names *n, struct name_list *l);
/* Returns the variable of p that contains addr, or NULL. */
const char *names_variable(const struct names *n, const struct process *p, uint64_t addr);
/* The files that are `leaving` will be evicted: keeps the present names of frames in them. */
void names_keep(struct names *n, const struct stacks *s);
/* To save memory, forgets names of frames that no stack of s has; gone: how many stacks s has just forgotten. The names
 * are found again if needed. This looks at all frames, so it waits until the stacks that have gone are a quarter. */
void names_forget(struct names *n, const struct stacks *s, size_t gone);
/* Returns the memory of the names. */
size_t names_bytes(const struct names *n);
