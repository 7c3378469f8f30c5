// SPDX-License-Identifier: Apache-2.0
/* link.h - joins the generated BPF object with precompiled ones. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct bpf_blob {
	const char *name;
	const void *data;
	size_t size;
};

/* *ret: a new buffer, to be free()d. 0 or -errno, after a message with libbpf's own. */
int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size);
