// SPDX-License-Identifier: Apache-2.0
/* rodata.h - constants of an opened BPF object that is not loaded yet. */
#pragma once
#include <stddef.h>

struct bpf_object;

/* The variable called name, of size bytes, to be written; NULL: there is none. */
void *rodata_find(struct bpf_object *obj, const char *name, size_t size);
