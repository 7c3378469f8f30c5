// SPDX-License-Identifier: Apache-2.0
/* native.h - the userspace half of bpf/walk/native.bpf.c: tables of native code. */
#pragma once
#include "table.h"

struct cache_key;
struct elf;

/* The table of a file, from the cache (dir: an fd, or negative: there is none) or
 * made and put there. fd: of the file, for its identity, or -1 for an image in
 * memory. *ret_cached (or NULL): it was in the cache. 0 or -errno; table_done(ret). */
int native_table(int dir, struct elf *e, const struct cache_key *key, struct table *ret, bool *ret_cached);
