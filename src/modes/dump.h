/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - strata dump and --unwind: all stacks of processes, now, or of a core, by thread. They need neither BPF nor
 * root. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct output;
struct target;

struct dump_options {
	const int *pids;
	size_t npids;
	bool children;               /* also their descendants */
	const char *core;            /* a core file of either machine; NULL: processes */
	const char *exe, *sysroot;   /* program of the core, and root of its files; NULL: by the paths in the core */
	const struct output *output; /* -f; NULL: the file's name chooses the format */
	const char *file;            /* -o; NULL: stdout */
};

/* Holds each thread only while it is walked. Text has its own form, the other formats get a map with stacks as
 * keys. Returns 0, or 1 after an error if a process could not be walked. */
int dump(struct target *t, const struct dump_options *opt);
