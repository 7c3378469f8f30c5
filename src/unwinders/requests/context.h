// SPDX-License-Identifier: Apache-2.0
/* context.h - a process's own description, the process context of OpenTelemetry's OTEP 4719 (merged 2026-04-07): its
 * resource attributes, and the names of its requests' attributes. It is untrusted. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { CONTEXT_SIZE_MAX = 65536, CONTEXT_ATTRIBUTES_MAX = 64, CONTEXT_KEYS_MAX = 256 };

struct context_text { /* not terminated; within the context's bytes */
	const char *text;
	size_t size;
};

struct context_attribute {
	struct context_text key;
	char value[128]; /* as text, cut; "" for kinds that have no text: arrays, maps, bytes */
};

struct context {
	uint64_t published; /* CLOCK_BOOTTIME ns: it changes with the content */
	uint8_t *bytes;     /* owned */
	struct context_attribute resource[CONTEXT_ATTRIBUTES_MAX];
	size_t nresource;
	/* Names of the attributes in thread contexts, by their numbers there. The program need not publish names. */
	struct context_text key[CONTEXT_KEYS_MAX];
	size_t nkeys;
	/* Node's record: see request.h; 0: not said. */
	uint64_t record_offset;
};

/* Reads all of size bytes at addr. Returns 0 on success, -errno on failure. */
typedef int context_read_fn(void *arg, uint64_t addr, void *buf, size_t size);

/* Reads the context that is mapped at addr. Returns 0 on success, -EAGAIN while the program writes it, -EINVAL if it is
 * not a context, or another -errno. On success *ret must be freed by context_done(). */
int context_read(context_read_fn *read, void *arg, uint64_t addr, struct context *ret);
void context_done(struct context *c);
/* Reads the time of the context at addr. Returns as context_read() does. */
int context_time(context_read_fn *read, void *arg, uint64_t addr, uint64_t *ret);
/* Parses the payload. Returns 0, or -EINVAL if it is malformed. */
int context_parse(const uint8_t *payload, size_t size, struct context *ret);
