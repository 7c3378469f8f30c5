// SPDX-License-Identifier: Apache-2.0
/* goid.h - offsets that lead from a thread of a Go program to its goroutine's number: from the thread's struct g to
 * its struct m, then to m.curg, the goroutine's struct g, which has the number. */
#pragma once
#include <stdbool.h>
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

/* Offsets that lead to the labels of the thread's goroutine (runtime/pprof's Do() and SetGoroutineLabels()). */
struct go_labels {
	int32_t tls;     /* as in struct goid */
	uint16_t curg;   /* as in struct goid */
	uint16_t labels; /* offset in struct g */
	bool is_map;     /* a map: up to Go 1.23; later a slice */
};

/* Returns false if the file has no Go, or its program sets no labels. */
bool go_labels_find(struct elf *e, struct go_labels *ret);
