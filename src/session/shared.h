// SPDX-License-Identifier: Apache-2.0
/* shared.h - the kernel's maps that the images of a session share, by name: the scripts' own (@name is one
 * map, whichever script uses it) and strata's, such as the ring buffer. They live as long as the session,
 * even if the image that brought them is dropped. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct bpf_object;
struct image;
struct image_map;

struct shared_map {
	char *name;  /* name in the object; owned */
	int fd;      /* owned; of a map that is taken, the current one */
	int holder;  /* the array that holds the current map; owned; -1 if the map is not taken */
	uint32_t key_size, value_size, max_entries;
	const struct image_map *script; /* the first image's row; NULL: not a script's map */
	bool print;  /* print it at the end; for scripts' maps */
};

struct shared_first {
	const char *name; /* name of the map, borrowed from the image */
	int fd;           /* owned */
};

struct shared { /* zero it first */
	VEC(struct shared_map) maps;
	VEC(struct shared_first) first; /* the first maps of arrays that are not loaded yet */
};

void shared_done(struct shared *s);
/* Returns NULL if no image has such a map. */
const struct shared_map *shared_find(const struct shared *s, const char *name);
/* Returns -1 if no image has such a map. */
int shared_fd(const struct shared *s, const char *name);

/* Checks that the image's maps are like existing maps with the same names. Returns 0, or -EINVAL with a complaint. */
int shared_check(const struct shared *s, const struct image *img);
/* Call it before the object is loaded: the object uses existing maps. Scratch memory of another size remains
 * the image's own. Returns 0 on success, -errno on failure. */
int shared_use(const struct shared *s, struct bpf_object *obj);
/* Call it after the load: the next image can use the object's maps. Returns 0 on success, -errno on failure. */
int shared_add(struct shared *s, struct bpf_object *obj, const struct image *img);
/* Makes a map that is taken. Call it before shared_use(). Returns 0 on success, -errno on failure. */
int shared_hold(struct shared *s, struct bpf_object *obj, const struct image_map *m, uint32_t entries, uint32_t flags);
/* Puts an empty map into the place of a map that is taken. No program uses the old map any more. Returns its
 * descriptor, which the caller closes, or -errno on failure. */
int shared_take(struct shared *s, const char *name);
/* Forgets the script's maps that no other image has had, for an image that could not be started. */
void shared_forget(struct shared *s, const struct image *img);
