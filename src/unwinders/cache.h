// SPDX-License-Identifier: Apache-2.0
/* cache.h - tables, and what else of a file takes long to find, kept from one run to the next. */
#pragma once
#include <stddef.h>

#include "table.h"

struct elf;

/* What names the table of a file: its build id and its owner (who could give their
 * file another's build id), else where it lies and when it was written. */
struct cache_key {
	char name[192]; /* "": not to be kept */
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
