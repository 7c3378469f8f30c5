// SPDX-License-Identifier: Apache-2.0
/* load.h - image -> kernel: maps are made, programs verified. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

#include "model/image.h"

struct bpf_object;
struct target;
struct walk_maps;

/* Verifying takes long: a thread waits for it. */
struct load {
	int only_pid;             /* in: see who_prepare() */
	struct bpf_object *obj;   /* to be bpf_object__close()d.. */
	struct walk_maps *maps; /* ..after this was freed; where user stacks are walked. Writes
				   * from the start */
	pthread_t thread;
	bool is_under_way;
	int result;
};

/* 0 or -errno, told in the script's terms; in both cases l has what was made so far. After it
 * load_wait() must be called, before obj is used or closed. */
int load_start(const struct image *img, struct target *t, struct load *l);
/* 0 or -errno, told in the script's terms. */
int load_wait(const struct image *img, struct load *l);
