// SPDX-License-Identifier: Apache-2.0
/* goid.h - the offsets by which a thread of a Go program has its goroutine's number: in struct g, which is
 * m.curg of the m of the thread's g. */
#pragma once
#include <stdint.h>

struct elf;
struct pclntab;

struct goid {
	int32_t tls;   /* offset of g from the thread pointer, in bytes; 0: unknown (arm64: x28 has g) */
	uint16_t curg; /* offset in struct m; 0: unknown */
	uint16_t goid; /* offset in struct g; 0: unknown */
};

/* Finds the offsets in the code of the runtime's functions, or else by the version. */
struct goid goid_find(struct elf *e, const struct pclntab *t);
