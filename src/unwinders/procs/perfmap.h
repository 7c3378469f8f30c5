// SPDX-License-Identifier: Apache-2.0
/* perfmap.h - /tmp/perf-PID.map, where JITs say what they have put where. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct perfmap;
struct target;

struct perfmap *perfmap_new(int pid);
void perfmap_free(struct perfmap *m);
/* Reads what the process has written by now; at most once a second. */
void perfmap_read(struct perfmap *m, struct target *t);
/* The process has ended, or runs another program: reads the rest, and closes the file. Of another pid: it is
 * a child that has the map too, and nothing is done. */
void perfmap_end(struct perfmap *m, uint32_t pid, struct target *t);
/* Its process has ended some time ago, and there is something to give back: bytes. Else 0. */
size_t perfmap_over(const struct perfmap *m);
/* Gives back what one has that is over: from now on it has no names. */
void perfmap_drop(struct perfmap *m);
/* The name of the code at addr; NULL. Valid until the next perfmap_read(). */
const char *perfmap_find(struct perfmap *m, uint64_t addr, uint64_t *ret_offset);
