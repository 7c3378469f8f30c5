/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - strata dump: all stacks of processes, now, by thread. Needs neither BPF nor root. */
#pragma once
#include <stddef.h>

struct output;
struct target;

/* Each thread is held only while it is walked. to: of -f, text has a form of its own, the others get a map
 * keyed by stacks; NULL: by the file's name. file: of -o; NULL: stdout. 0, or 1 after a complaint: one of
 * them could not be walked. */
int dump(struct target *t, const int *pids, size_t n, const struct output *to, const char *file);
