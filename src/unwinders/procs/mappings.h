/* SPDX-License-Identifier: Apache-2.0 */
/* mappings.h - the array of a process's mappings: see struct process, and process_mapping(). */
#pragma once
#include "process.h"

/* Removes older mappings from [start, end). */
void mappings_cut(struct process *p, uint64_t start, uint64_t end);
/* Adds a mapping in the place of older ones. */
void mappings_insert(struct process *p, const struct mapping *m);
