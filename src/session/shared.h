// SPDX-License-Identifier: Apache-2.0
/* shared.h - the kernel's maps that the images of a session have in common, by name: the scripts'
 * own (@name is one map, whichever script uses it) and strata's, as the ring buffer. They live as
 * long as the session, whatever becomes of the image that brought them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct bpf_object;
struct image;
struct image_map;

struct shared_map {
	char *name;  /* in the object; owned */
	int fd;      /* owned */
	uint32_t key_size, value_size, max_entries;
	const struct image_map *script; /* of the first image that has it; NULL: not a script's */
	bool print;  /* at the end; of scripts' maps */
};

struct shared { /* zeroed, then */
	VEC(struct shared_map) maps;
};

void shared_done(struct shared *s);
/* NULL: no image has such a map. */
const struct shared_map *shared_find(const struct shared *s, const char *name);
/* -1 likewise. */
int shared_fd(const struct shared *s, const char *name);

/* Whether the image's maps are what those of the same names are: 0, or -EINVAL with a complaint. */
int shared_check(const struct shared *s, const struct image *img);
/* Before the object is loaded: maps that are there already are used. Scratch memory of another size
 * is the image's own. 0 or -errno. */
int shared_use(const struct shared *s, struct bpf_object *obj);
/* After it was loaded: what it made is there for the next image. 0 or -errno. */
int shared_add(struct shared *s, struct bpf_object *obj, const struct image *img);
/* The script's maps that no other image has had, for one that could not be started. */
void shared_forget(struct shared *s, const struct image *img);
