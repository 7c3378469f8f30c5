// SPDX-License-Identifier: Apache-2.0
/* entries.h - reads and clears the script's maps; output/ writes them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type;
struct arena;
struct image_map;
struct show;

/* Another key of an entry: its stacks are the same in the mode in which they are shown. */
struct map_alike {
	struct map_alike *next;
	uint8_t key[];
};

struct map_entry {
	uint8_t *key;
	uint8_t *value;          /* of all CPUs, and of all merged keys */
	uint64_t order;          /* entries are first sorted by it, */
	uint64_t second;         /* then by this, then by all bytes (order.c) */
	struct map_alike *alike; /* NULL: no other key */
};

/* A map's content: equal entries are merged; the order is ascending by value, then by key. It is bpftrace's
 * for integers, count() and sum(); bpftrace does not sort other values. */
struct map_content {
	const struct image_map *map;
	struct map_entry *list; /* owned; keys and values are in the arena */
	struct arena *arena;
	size_t n, cap;
	size_t first; /* index of the first entry to show, see map_wanted.top */
	size_t nidle;  /* number of entries that were left out because they are idle */
	bool startup;  /* they are the C library's memory, not idle waits */
	bool taken;    /* these values were taken out of the map: the next read has only later ones */
	bool all_idle; /* all entries are idle, and none was left out */
	int64_t div;  /* divisor of the shown values; 0: 1 */
	uint64_t last; /* for tseries(): the last interval of all entries */
};

struct map_wanted {
	int64_t top; /* number of the largest entries; 0: all */
	int64_t div;
	bool unset;  /* also a scalar that was never set */
	bool taken;  /* fd is a map that was replaced by an empty one */
};

/* fd: the map in the kernel. Returns 0 on success, -errno on failure; call map_content_done() in both cases. */
int map_read(const struct show *s, int fd, const struct image_map *m,
	const struct map_wanted *wanted, struct map_content *ret);
void map_content_done(struct map_content *c);
/* Makes the CPU load an entry that will be shown, and its stacks. Calls with i + MAP_AHEAD in a loop over i hide the
 * time for memory: entries in their order lie anywhere. */
enum { MAP_AHEAD = 16 };
void map_expect(const struct show *s, const struct map_content *c, size_t i);
/* Calls f for the id of each stack in a key or a value. */
void type_each_stack(const struct type *t, const uint8_t *data, void (*f)(void *arg, uint64_t id), void *arg);
void map_each_stack(int fd, const struct image_map *m,
	void (*f)(void *arg, uint64_t id), void *arg);
int map_clear(int fd, const struct image_map *m);
int map_zero(int fd, const struct image_map *m);
