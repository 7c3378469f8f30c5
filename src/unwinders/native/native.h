// SPDX-License-Identifier: Apache-2.0
/* native.h - the userspace half of bpf/walk/cfi.bpf.c: tables of native code. */
#pragma once
#include "table.h"

struct cache_key;
struct elf;

/* Returns the table of a file, from the cache or newly made and stored there. dir: the cache's fd, or
 * negative if there is none. fd: the file, for its identity, or -1 for an image in memory. *ret_cached says
 * whether the cache had it. Returns 0 on success, -EAGAIN if a unit of strata agent has no room for it at present, else
 * -errno; call table_done(ret). */
int native_table(int dir, struct elf *e, const struct cache_key *key, struct table *ret, bool *ret_cached);
