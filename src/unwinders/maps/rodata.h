// SPDX-License-Identifier: Apache-2.0
/* rodata.h - constants of an opened BPF object that is not loaded yet. */
#pragma once
#include <stddef.h>

struct bpf_object;

/* Returns the variable with this name and size, to be written, or NULL if there is none. */
void *rodata_find(struct bpf_object *obj, const char *name, size_t size);
