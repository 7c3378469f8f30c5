// SPDX-License-Identifier: Apache-2.0
/* cache.h - tables and other facts about files that take long to find, kept from one run to the next. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct elf;

/* Identifies a file's table: by its build id; its owner, because another user could give a file the same
 * build id; and its size, modification time and function addresses, because a build id can be set by hand, to
 * the same value for each build. A file without a build id also has its place in the key. */
struct cache_key {
	char name[240]; /* "": do not keep the table */
};
/* fd: the file, or -1 for an image in memory, which needs a build id. */
void cache_key(const struct elf *e, int fd, struct cache_key *ret);

/* dir: an fd. Returns 0, or -errno if the table is missing or cannot be trusted: make it again. */
int cache_load(int dir, const struct cache_key *key, struct table *ret);
int cache_store(int dir, const struct cache_key *key, const struct table *t);

/* Notes: size bytes, a multiple of 8, that a language (kind: its name) keeps with the table. A note is valid
 * only for the language's version. Returns are those of cache_load(). */
int cache_load_note(int dir, const struct cache_key *key, const char *kind, void *ret, size_t size);
int cache_store_note(int dir, const struct cache_key *key, const char *kind, const void *note,
	size_t size);

/* A note of any size. Returns 0, or -errno if it is missing or broken. data is valid until cached_data_done(). */
struct cached_data {
	const void *data;
	size_t size;
	void *map;
	size_t map_size;
};
int cache_load_data(int dir, const struct cache_key *key, const char *kind, struct cached_data *ret);
void cached_data_done(struct cached_data *d);

/* Removes the least recently used files until the directory has 9/10 of limit bytes; does nothing if
 * it has no more than limit. */
void cache_trim(int dir, uint64_t limit);
