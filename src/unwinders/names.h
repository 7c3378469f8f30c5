// SPDX-License-Identifier: Apache-2.0
/* names.h - frames in words. */
#pragma once
#include "base/vec.h"
#include "idmap.h"
#include "unwinders.h"

struct files;
struct names;
struct process;
struct stacks;
struct target;

/* lang_names: by enum frame_lang, what lang.names_new() made; NULL: the language has none. */
struct names *names_new(struct target *t, const struct files *fs, void *const *lang_names);
void names_free(struct names *n);

/* Strings live as long as n and what it was made from. */
void names_frame(struct names *n, uint64_t frame, struct frame_name *ret);
/* Frames that will be named at once: a file's symbols are read in one pass, and not kept. */
struct name_list {
	VEC(uint64_t) frames;
	struct idmap listed;
};
/* Unless it is known, or names_frame() has nothing to gain. */
void names_list(const struct names *n, uint64_t frame, struct name_list *l);
/* Frees the list. */
void names_frames(struct names *n, struct name_list *l);
/* The variable of p that holds addr; NULL. */
const char *names_variable(const struct names *n, const struct process *p, uint64_t addr);
/* The frame's file is about to be evicted: what is known now stays. */
void names_keep(struct names *n, uint64_t frame);
/* Memory: of frames that no stack of s has all is forgotten; their names are found anew. */
void names_forget(struct names *n, const struct stacks *s);
