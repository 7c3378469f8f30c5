// SPDX-License-Identifier: Apache-2.0
/* inlines.h - the functions and source lines of native code at an address, by the file's debug information. Where the
 * compiler inlined functions, one address has several.
 *
 * Files are untrusted: an address whose search exceeds a limit keeps only its symbol. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_key;
struct elf;
struct inlines;

#define INLINES_MAX 64 /* functions at an address; the outermost of a deeper chain are left out */

struct inline_function {
	const char *name; /* linkage name if there is one, else with the namespaces and classes around it; or NULL */
	const char *file; /* path, or NULL */
	uint32_t line, column; /* of the code, or of the call of the next inner function; 0: unknown */
};

struct inline_chain {
	size_t n;         /* at least 1 */
	struct inline_function at[INLINES_MAX]; /* innermost first; the last one has the code */
	uint64_t start;   /* where the last one's code begins; 0: only the line is known, and its name is NULL */
};

/* Opens the debug information of e, which must live longer. dir: the cache's directory, or -1. key: of e, whose answers
 * are kept for later runs; NULL: they are not. If there are answers of an earlier run, the debug information is only
 * opened when they do not suffice. Returns 0, or an error of dwarf_file_open(). */
int inlines_open(struct elf *e, int dir, const struct cache_key *key, struct inlines **ret);
void inlines_close(struct inlines *l);
/* Keeps the answers for later runs. Returns the number of bytes stored. */
uint64_t inlines_store(struct inlines *l);
/* Gives the pages of the file back. */
void inlines_release(const struct inlines *l);

/* Calls f for those of n sorted addresses about which something is known; i: the number of the address. Many at once
 * take much less time than one by one. Names are valid during the call of f. */
typedef void inlines_fn(void *arg, size_t i, const struct inline_chain *c);
void inlines_find(struct inlines *l, const uint64_t *vaddrs, size_t n, inlines_fn *f, void *arg);
/* Returns whether answers of earlier runs did not suffice. */
bool inlines_are_read(const struct inlines *l);
/* Returns whether a limit was exceeded. */
bool inlines_are_cut(const struct inlines *l);
