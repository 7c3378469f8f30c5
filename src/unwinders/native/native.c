// SPDX-License-Identifier: Apache-2.0
/* native.c - the userspace half of bpf/walk/cfi.bpf.c: tables of native code. */
#include "native.h"

#include "base/priority.h"
#include "cache.h"

/* A file's pages can be given back while its table is kept. */
static void use_stored(int dir, const struct cache_key *key, struct table *t)
{
	struct table stored;

	if (cache_load(dir, key, &stored))
		return;
	table_done(t);
	*t = stored;
}

int native_table(int dir, struct elf *e, const struct cache_key *key, struct table *ret, bool *ret_cached)
{
	bool cached = dir >= 0 && cache_load(dir, key, ret) == 0;
	int err;

	if (ret_cached)
		*ret_cached = cached;
	if (cached)
		return 0;
	priority_spend();
	err = table_make(e, ret);
	if (!err && dir >= 0 && !cache_store(dir, key, ret)) /* a failing cache only costs time */
		use_stored(dir, key, ret);
	return err;
}
