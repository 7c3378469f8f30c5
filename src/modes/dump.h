/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - strata dump: all stacks of processes, now, by thread. It needs neither BPF nor root. */
#pragma once
#include <stddef.h>

struct output;
struct target;

/* Holds each thread only while it is walked. to is the format of -f, or NULL to choose by the file's name;
 * text has its own form, the others get a map with stacks as keys. file is that of -o, or NULL for stdout.
 * Returns 0, or 1 after an error if a process could not be walked. */
int dump(struct target *t, const int *pids, size_t n, const struct output *to, const char *file);
