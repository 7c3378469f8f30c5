/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - the functions and lines that inlines.c found in a file, kept in the cache from one run to the next. A
 * second run of strata then needs no debug information.
 *
 * An entry is a range of code, mostly a whole function: its parts, each with a line and the innermost function inlined
 * there. The file in the cache is checked before use: see cache.h, and chains_load(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlines.h"

struct cache_key;
struct chains;

/* The file with the debug information: changed is its ctime, which no user can set. */
struct elf_identity;

struct chains *chains_new(void);
void chains_free(struct chains *c);
/* Reads the entries of an earlier run. path is the file of the debug information, or NULL. Returns 0, or -errno if no
 * entries can be trusted and come from the same source. */
int chains_load(struct chains *c, int dir, const struct cache_key *key, const struct elf_identity *source,
	const char *path);
/* Keeps all entries, if there are new ones. has_parts: parts of the debug information are in other files, which are
 * found by the path. Returns the number of bytes, or -errno. */
int64_t chains_store(struct chains *c, int dir, const struct cache_key *key, const struct elf_identity *source,
	const char *path, bool has_parts);

/* Returns whether the address is known. ret->n is 0 if the debug information has nothing about it. Strings are valid
 * until the next chains_add. */
bool chains_find(const struct chains *c, uint64_t vaddr, struct inline_chain *ret);
/* Adds an address; chain NULL: nothing is known about it. Does nothing if a limit is reached. */
void chains_add(struct chains *c, uint64_t vaddr, const struct inline_chain *chain);

/* Adds a range of code: first the range, then its levels, outer ones first, and its parts by address, from start on.
 * Returns false if a limit is reached or a part is known already: then levels and parts must not be added. */
bool chains_begin(struct chains *c, uint64_t start, uint64_t end, uint64_t entry, const char *name, size_t parts);
/* An inlined function: at has its name, and the place of its call. outer: number of the function with the call, 0: that
 * of the range. Returns its number. */
uint32_t chains_level(struct chains *c, const struct inline_function *at, uint32_t outer);
/* at: the place, without the name. */
void chains_part(struct chains *c, uint64_t start, uint32_t level, const struct inline_function *at);
