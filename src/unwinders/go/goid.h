// SPDX-License-Identifier: Apache-2.0
/* goid.h - where a thread of a Go program has the number of its goroutine: in the struct g
 * that is m.curg of the m of the thread's g. */
#pragma once
#include <stdint.h>

struct elf;
struct pclntab;

struct goid {
	int32_t tls;   /* of g, in bytes from the thread pointer; 0: not known (arm64: x28 has it) */
	uint16_t curg; /* in struct m; 0: not known */
	uint16_t goid; /* in struct g; 0: not known */
};

/* By the code of the runtime's functions; what that does not give, by the version. */
struct goid goid_find(struct elf *e, const struct pclntab *t);
