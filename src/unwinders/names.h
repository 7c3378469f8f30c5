// SPDX-License-Identifier: Apache-2.0
/* names.h - frames in words. */
#pragma once
#include "unwinders.h"

struct files;
struct names;
struct target;

/* lang_names: by enum frame_lang, what lang.names_new() made; NULL: the language has none. */
struct names *names_new(struct target *t, const struct files *fs, void *const *lang_names);
void names_free(struct names *n);

/* Strings live as long as n and what it was made from. */
void names_frame(struct names *n, uint64_t frame, struct frame_name *ret);
/* The frame's file is about to be evicted: what is known now stays. */
void names_keep(struct names *n, uint64_t frame);
