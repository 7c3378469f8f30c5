// SPDX-License-Identifier: Apache-2.0
/* load.h - image -> kernel: maps are made, programs verified. */
#pragma once
#include "codegen/image.h"

struct bpf_object;
struct target;
struct unwind_sink;

/* 0 or -errno, told in the script's terms; and in both cases what was made so far, else
 * untouched: an object to be bpf_object__close()d, and where user stacks are walked a sink, to
 * be freed before that. */
int load_image(const struct image *img, struct target *t, struct bpf_object **ret,
	struct unwind_sink **ret_sink);
