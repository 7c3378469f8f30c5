// SPDX-License-Identifier: Apache-2.0
/* profile.h - maps keyed by stacks as a tree: who called whom, and how much each has of the total. Flame
 * graphs, and what is drawn on a terminal, are made of it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_map;
struct map_content;
struct profile;
struct show;
struct type;

/* What a frame is; a language's row comes last. */
enum profile_kind {
	PROFILE_KEY,     /* a part of the map's key */
	PROFILE_NATIVE,
	PROFILE_INLINED,
	PROFILE_KERNEL,
	PROFILE_REASON,  /* why the stack ends */
#define L(id, stem, builtin, kind, name) PROFILE_##id,
#include "bpf/languages.def"
#undef L
	PROFILE_KIND_MAX
};

struct profile_node {
	const char *name;      /* "read_page", "handler app.py"; safe for a terminal */
	const char *module;    /* the file's path, or NULL */
	enum profile_kind kind;
	uint64_t self, total;  /* in the unit of the map's values */
	struct profile_node *parent, *children, *next; /* the widest child first, once sorted */
	size_t nchildren;
	void *data;            /* the user's */
};

/* Does the map have stacks in its key, and values that are a width? */
bool profile_is_map(const struct image_map *m);
/* A value's width: the sum of an average, the number of values of a histogram. false: it is negative. */
bool profile_weight(const struct type *t, const uint8_t *value, uint64_t *ret);

struct profile *profile_new(void); /* running out of memory ends the program */
void profile_free(struct profile *p);
/* Adds the entries from `first` on; under a frame of that name, if it is not NULL. How many were left out,
 * because they are negative. */
size_t profile_add(struct profile *p, const struct show *s, const struct map_content *c, const char *top);
/* Once all is added: the root, whose total is everything; sorted by total. */
struct profile_node *profile_root(struct profile *p);
size_t profile_nodes(const struct profile *p);
const char *profile_kind_name(enum profile_kind k);
