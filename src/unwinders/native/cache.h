// SPDX-License-Identifier: Apache-2.0
/* cache.h - tables, and what else of a file takes long to find, kept from one run to the next. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct elf;

/* What names the table of a file: its build id; its owner, who could give their file another's
 * build id; and its size, when it was written and where its functions begin, for a build id can
 * be given by hand, the same one to each build. Without a build id, where it lies, too. */
struct cache_key {
	char name[240]; /* "": not to be kept */
};
/* fd: of the file, or -1: from memory, only a build id will do. */
void cache_key(const struct elf *e, int fd, struct cache_key *ret);

/* dir: an fd. 0, or -errno: not there, or not to be trusted: make it anew. */
int cache_load(int dir, const struct cache_key *key, struct table *ret);
int cache_store(int dir, const struct cache_key *key, const struct table *t);

/* Beside it, what a language (kind: its name) wants to keep: size bytes, a multiple of 8.
 * Likewise; the language's version goes with it. */
int cache_load_note(int dir, const struct cache_key *key, const char *kind, void *ret, size_t size);
int cache_store_note(int dir, const struct cache_key *key, const char *kind, const void *note,
	size_t size);

/* Removes what was not used for longest, until the directory has 9/10 of limit bytes; nothing
 * where it has no more than limit. */
void cache_trim(int dir, uint64_t limit);
