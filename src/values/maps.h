// SPDX-License-Identifier: Apache-2.0
/* maps.h - reads and clears the script's maps; output/ writes them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_map;
struct show;

/* A further key of an entry: its stacks are the same in the mode they are shown in. */
struct map_alike {
	struct map_alike *next;
	uint8_t key[];
};

struct map_entry {
	uint8_t *key;
	uint8_t *value;          /* of all CPUs, and of all alike */
	struct map_alike *alike; /* NULL: none but key */
};

/* A map as it was read: the entries that are one merged, in bpftrace's order: ascending by value,
 * equal ones by key. */
struct map_content {
	const struct image_map *map;
	struct map_entry *list; /* owned */
	size_t n, cap;
	size_t first; /* index of the first that is wanted, see map_wanted.top */
	int64_t div;  /* values are shown divided by it; 0: by 1 */
	uint64_t last; /* of tseries(): the last interval that any entry has */
};

struct map_wanted {
	int64_t top; /* at most so many, the largest; 0: all */
	int64_t div;
	bool unset;  /* a scalar that was never set, too */
};

/* fd: of the map in the kernel. 0 or -errno; in both cases to be map_content_done(). */
int map_read(const struct show *s, int fd, const struct image_map *m,
	const struct map_wanted *wanted, struct map_content *ret);
void map_content_done(struct map_content *c);
/* Calls f for the id of each stack in a key or a value. */
void map_each_stack(int fd, const struct image_map *m,
	void (*f)(void *arg, uint64_t id), void *arg);
int map_clear(int fd, const struct image_map *m);
int map_zero(int fd, const struct image_map *m);
