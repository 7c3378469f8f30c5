// SPDX-License-Identifier: Apache-2.0
/* requests.h - keeps the maps of bpf/lib/request.bpf.c: for each process, where its threads say which request they work
 * on, and what the process says of itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct requests;
struct target;
struct tls_place;

/* The variable by which threads publish their records: OTEP 4947. */
#define REQUEST_VARIABLE "otel_thread_ctx_v1"

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

/* The process has mapped a file that has the variable (place: at the file's addresses; tls.h). */
void requests_file(struct requests *rs, uint32_t pid, const struct tls_place *place, uint64_t bias);
/* The process's C library is musl. */
void requests_musl(struct requests *rs, uint32_t pid);
/* All mappings of the process are known. */
void requests_process(struct requests *rs, uint32_t pid);
void requests_fork(struct requests *rs, uint32_t parent, uint32_t child);
void requests_exec(struct requests *rs, uint32_t pid);
void requests_exit(struct requests *rs, uint32_t pid);

/* The 64 bits by which the kernel half knows an attribute's name. */
uint64_t request_hash(const char *name, size_t size);
