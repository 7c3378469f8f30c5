// SPDX-License-Identifier: Apache-2.0
/* goid.h - offsets that lead from a thread of a Go program to its goroutine's number: from the thread's struct g to
 * its struct m, then to m.curg, the goroutine's struct g, which has the number. */
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
