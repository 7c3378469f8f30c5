// SPDX-License-Identifier: Apache-2.0
/* native.c - the userspace half of bpf/walk/cfi.bpf.c: tables of native code. */
#include "native.h"

#include <errno.h>

#include "base/allowance.h"
#include "base/memory.h"
#include "base/priority.h"
#include "cache.h"
#include "target/elf.h"

/* A file's pages can be given back while its table is kept. */
static void use_stored(int dir, const struct cache_key *key, struct table *t)
{
	struct table stored;

	if (cache_load(dir, key, &stored))
		return;
	table_done(t);
	*t = stored;
}

/* Large tables are made by one unit of strata agent at a time: others wait, and find it in the cache. */
static int make_in_turn(int dir, struct elf *e, const struct cache_key *key, struct table *ret, bool *ret_cached)
{
	bool is_unit = allowance_is_unit();
	uint64_t before = is_unit ? memory_resident() : 0;
	int err;

	*ret_cached = is_unit && dir >= 0 && cache_load(dir, key, ret) == 0;
	if (*ret_cached)
		return 0;
	if (!allowance_fits(table_needs(e)))
		return -EAGAIN;
	priority_spend();
	err = table_make(e, ret);
	if (!err && !ret->is_cut && dir >= 0 && !cache_store(dir, key, ret)) /* a failing cache only costs time */
		use_stored(dir, key, ret);
	if (is_unit) {
		elf_release_pages(e);
		allowance_take((int64_t)(memory_resident() - before));
	}
	return err;
}

int native_table(int dir, struct elf *e, const struct cache_key *key, struct table *ret, bool *ret_cached)
{
	int err;

	*ret_cached = dir >= 0 && cache_load(dir, key, ret) == 0;
	if (*ret_cached)
		return 0;
	if (!allowance_begin())
		return -EAGAIN;
	err = make_in_turn(dir, e, key, ret, ret_cached);
	allowance_end();
	return err;
}
