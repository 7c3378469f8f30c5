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

/* Drops records of source lines from an object that LLVM made. bpf/link.py drops them from the objects with
 * which it is linked: libbpf wants lines for all functions or for none, and they cost the kernel much work. */
void drop_lines(void *elf);

/* Prepares an object that clang made of a user's C for linking: it loses its lines, and gets the license of
 * the other objects, since all must have the same. Its functions are hidden, so that libbpf makes them
 * static: then the verifier follows pointers into them and does not demand a test for NULL. */
struct bpf_blob adopted_object(struct arena *a, const char *name, const void *elf, size_t size);

/* *ret is a new buffer, which the caller frees. Returns 0 on success, -errno on failure after a message
 * that includes libbpf's. */
int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size);
