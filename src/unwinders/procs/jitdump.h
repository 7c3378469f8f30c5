/* SPDX-License-Identifier: Apache-2.0 */
/* jitdump.h - jit-PID.dump, in which JITs write their code with its names and lines (python -X perf_jit, wasmtime,
 * LLVM). The file is hostile.
 *
 * The format: tools/perf/Documentation/jitdump-specification.txt of Linux 6.12. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct jitdump;

struct jitdump_line {
	uint64_t addr;
	uint32_t line;
	uint32_t file; /* offset in jitdump_code.files */
};

struct jitdump_code {
	uint64_t start, size;
	uint64_t from;    /* code that moved: its old address, name and lines are those from there; else 0 */
	const char *name; /* NULL: it moved */
	const struct jitdump_line *lines;
	size_t nlines;
	const char *files;
};

/* Takes fd. */
struct jitdump *jitdump_new(int fd);
void jitdump_free(struct jitdump *d);
/* Calls f for code of which the file was not read before, in the order of time. */
typedef void jitdump_fn(void *arg, const struct jitdump_code *c);
void jitdump_read(struct jitdump *d, jitdump_fn *f, void *arg);
