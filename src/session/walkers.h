/* SPDX-License-Identifier: Apache-2.0 */
/* walkers.h - programs in the kernel that walk user stacks (bpf/walk/handover.h): one for each kind of
 * program that calls it, loaded with the first of that kind. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct bpf_object;
struct image;
struct load_env;

struct walker {
	uint32_t type, attach_type;
	struct bpf_object *obj; /* until it is loaded */
	int fd;                 /* after the load; owned */
};

struct walkers { /* zero it first */
	void *elf;       /* ELF file of the session's first image; NULL: there are no walkers */
	size_t elf_size;
	VEC(struct walker) all;
	int forget;      /* its forget_program(), loaded with the first walker; 0: not yet */
};

void walkers_done(struct walkers *w);
/* Returns 0 on success, -ENOMEM if there is no memory. */
int walkers_begin(struct walkers *w, const struct image *img);
/* Opens the walkers that the image's programs need; call it in the thread that knows the machine. obj: the
 * image's, opened and prepared. Returns 0 on success, -errno on failure. */
int walkers_open(struct walkers *w, const struct load_env *env, const struct image *img, struct bpf_object *obj);
/* Call it when obj is loaded: loads these walkers, and puts them into the arrays that their programs call.
 * Returns 0 on success, -errno on failure. */
int walkers_load(struct walkers *w, const struct image *img, struct bpf_object *obj);
