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

/* Records of source lines go from an object that LLVM made, as bpf/link.py leaves them out of those that it is
 * linked with: libbpf wants them of all functions or of none, and the kernel has much work with them. */
void drop_lines(void *elf);

/* *ret: a new buffer, to be free()d. 0 or -errno, after a message with libbpf's own. */
int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size);
