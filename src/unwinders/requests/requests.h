// SPDX-License-Identifier: Apache-2.0
/* requests.h - keeps the maps of bpf/lib/request.bpf.c: for each process, where its threads say which request they work
 * on, and what the process says of itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lib/request.h"

struct elf;
struct requests;
struct target;

/* A file's part of struct request_proc, at the file's own addresses. */
struct request_file {
	struct tls_place variable[REQUEST_VARIABLES];
	struct request_go go;
	uint32_t node_record;
};

/* Looks for the variables, and for Go's labels. Returns whether the file has any. */
bool request_file_find(struct elf *e, struct request_file *ret);

/* Map fds, which the caller keeps open until requests_free(). */
struct request_maps {
	int procs, keys, texts;
};

/* Returns NULL if there is no memory. */
struct requests *requests_new(struct target *t, const struct request_maps *maps);
void requests_free(struct requests *rs);
/* Returns a descriptor that becomes readable when requests_poll() is due, or -errno. rs owns it. */
int requests_fd(struct requests *rs);
/* Looks for contexts that came or changed since. */
void requests_poll(struct requests *rs);

/* The process has mapped a file that has variables. bias: address in the process - address in the file. */
void requests_file(struct requests *rs, uint32_t pid, const struct request_file *f, uint64_t bias);
/* The process's C library is musl. */
void requests_musl(struct requests *rs, uint32_t pid);
/* All mappings of the process are known. */
void requests_process(struct requests *rs, uint32_t pid);
void requests_fork(struct requests *rs, uint32_t parent, uint32_t child);
void requests_exec(struct requests *rs, uint32_t pid);
void requests_exit(struct requests *rs, uint32_t pid);

/* The 64 bits by which the kernel half knows an attribute's name. */
uint64_t request_hash(const char *name, size_t size);
