// SPDX-License-Identifier: Apache-2.0
/* perfmap.h - /tmp/perf-PID.map, in which JITs list their code. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct perfmap;
struct target;

struct perfmap *perfmap_new(int pid);
void perfmap_free(struct perfmap *m);
/* Reads the new part of the file; at most once a second. */
void perfmap_read(struct perfmap *m, struct target *t);
/* The process has ended, or runs another program: reads the rest, and closes the file. Does nothing for
 * another pid: that is a child which has the map, too. */
void perfmap_end(struct perfmap *m, uint32_t pid, struct target *t);
/* Returns the bytes that can be given back, if the process ended some time ago; else 0. */
size_t perfmap_over(const struct perfmap *m);
/* Gives back the entries of a map that is over: from now on it has no names. */
void perfmap_drop(struct perfmap *m);
/* Returns the name of the code at addr, or NULL. Valid until the next perfmap_read(). */
const char *perfmap_find(struct perfmap *m, uint64_t addr, uint64_t *ret_offset);
