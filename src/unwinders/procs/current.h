/* SPDX-License-Identifier: Apache-2.0 */
/* current.h - the files that a process maps now. The mappings of struct process are older, because walks that userspace
 * finishes need the mappings of their time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct files;
struct mapping_chunk;
struct proc_map;
struct target;

struct current { /* zero it first, but for files */
	struct files *files;
	struct proc_map *maps; /* owned; NULL: not read */
	size_t n;
};

/* Reads the process's mappings. If this fails, current_only() keeps all mappings. */
void current_read(struct current *c, struct target *t, uint32_t pid);
/* Empties the mappings of other files. Does nothing if the process was not read. */
void current_only(const struct current *c, struct mapping_chunk *chunk);
