/* SPDX-License-Identifier: Apache-2.0 */
/* mappings.h - the array of a process's mappings: see struct process, and process_mapping(). */
#pragma once
#include "process.h"

/* Removes older mappings from [start, end). */
void mappings_cut(struct process *p, uint64_t start, uint64_t end);
/* Adds a mapping in the place of older ones. */
void mappings_insert(struct process *p, const struct mapping *m);
/* Returns the languages (MAPPING_LANG) that may have compiled the code of a mapping with this path; publishing keeps
 * those that the process has. */
uint32_t mappings_compiled(const char *path);
/* PHP's JIT compiler makes its code writable and not executable while it adds to it. Returns whether maps[i] is such
 * code: no part of its file is executable now. */
struct proc_map;
bool mappings_is_written(const struct proc_map *maps, size_t n, size_t i);
/* Returns whether the process's mappings are these. */
bool mappings_same(const struct process *p, const struct mapping *maps, size_t n);
/* Returns the number of chunks of the process: at least 1. See process_chunk(). */
uint32_t mappings_chunks(const struct process *p);
