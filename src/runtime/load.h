// SPDX-License-Identifier: Apache-2.0
/* load.h - image -> kernel: maps are made, programs verified. */
#pragma once
#include "codegen/image.h"

struct bpf_object;
struct target;

/* 0 and an object to be bpf_object__close()d, or -errno, told in the script's terms. */
int load_image(const struct image *img, struct target *t, struct bpf_object **ret);
