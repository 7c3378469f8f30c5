// SPDX-License-Identifier: Apache-2.0
/* link.h - joins the generated BPF object with precompiled ones. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct bpf_blob {
	const char *name;
	const void *data;
	size_t size;
};

/* Records of source lines go from an object that LLVM made, as bpf/link.py leaves them out of those that it is
 * linked with: libbpf wants them of all functions or of none, and the kernel has much work with them. */
void drop_lines(void *elf);

/* An object that clang made of somebody's C, as it can be linked: without lines; with the license of the other objects,
 * since all have one. Its functions are hidden: libbpf then makes them static, and the verifier follows pointers into
 * them and wants no test for NULL. */
struct bpf_blob adopted_object(struct arena *a, const char *name, const void *elf, size_t size);

/* *ret: a new buffer, to be free()d. 0 or -errno, after a message with libbpf's own. */
int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size);
