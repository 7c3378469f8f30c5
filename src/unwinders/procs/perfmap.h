// SPDX-License-Identifier: Apache-2.0
/* perfmap.h - the code that a process's JIT has listed, in /tmp/perf-PID.map or in a jitdump file. */
#pragma once
#include <stdbool.h>
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
/* The process has mapped its jitdump file. Takes fd. */
void perfmap_dump(struct perfmap *m, int fd);

/* Code at an address. Strings are valid until the next perfmap_read(). */
struct perfmap_code {
	const char *name;
	uint64_t offset;
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
};
/* Returns false if the address has no code. before: see perfmap_poll(); 0: the latest code. */
bool perfmap_find(struct perfmap *m, uint64_t addr, uint32_t before, struct perfmap_code *ret);

/* A stack has code of the map: its changes are looked for from now on. */
void perfmap_watch(struct perfmap *m);
/* Reads the map, if it is watched. Returns 0, or the time (a count of entries) before which the code was other code:
 * addresses of stacks until now are to be found with it, later ones without it. */
uint32_t perfmap_poll(struct perfmap *m, struct target *t);
