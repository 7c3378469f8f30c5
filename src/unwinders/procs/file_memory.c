// SPDX-License-Identifier: Apache-2.0
/* file_memory.c - limits of memory for tables and files, and the release of memory above them. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "files_priv.h"
#include "target/elf.h"
#include "unwinders/maps/maps.h"
#include "unwinders/native/inlines.h"

#define FRESH_MIN  (4 << 20) /* a check takes a millisecond, in which a process may come and go */
#define LOOK_NS     1000000000ull /* maximum time between two checks of the memory in use */
#define RELEASED_NS 2000000000ull /* maximum time after memory was released */
#define KEPT_NS     2000000000ull
#define SHORT_NS    5000000000ull /* after this time above the limit there are no more tables */

void files_limit(struct files *fs, uint64_t cache, uint64_t memory)
{
	fs->cache_limit = cache;
	fs->memory_limit = memory;
}

/* Returns the limit at present; 0: none. */
static uint64_t limit_of(const struct files *fs)
{
	uint64_t allowed = allowance(), own = fs->memory_limit ? fs->memory_limit + allowance_shared() : 0;

	return allowed && (!own || allowed < own) ? allowed : own;
}

bool files_due(const struct files *fs)
{
	uint64_t limit = limit_of(fs);

	return limit && (fs->fresh > FRESH_MIN + limit / 16 || clock_ns(CLOCK_MONOTONIC_COARSE) > fs->due);
}

uint64_t files_kernel(const struct files *fs)
{
	return fs->kernel;
}

static void release(struct files *fs)
{
	for (size_t i = 1; i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (!f || !f->elf)
			continue;
		/* f->unframed is kept: it is small, and to find it takes far more memory. */
		eh_ranges_done(&f->functions);
		f->functions = (struct eh_ranges){};
		f->functions_read = false;
		if (f->inlines)
			inlines_release(f->inlines);
		elf_release(f->elf);
		if (f->table.map)
			madvise(f->table.map, f->table.map_size, MADV_DONTNEED);
	}
	malloc_trim(0);
	fs->released = clock_ns(CLOCK_MONOTONIC);
}

/* A table that is made up for has time. */
bool files_make_room(struct files *fs)
{
	uint64_t before = memory_resident();

	if (fs->makes_up || clock_ns(CLOCK_MONOTONIC) - fs->released < RELEASED_NS)
		return false;
	release(fs);
	allowance_take((int64_t)(memory_resident() - before));
	return true;
}

/* Decides whether tables are made. Without the agent the limit only makes strata give memory back. */
static void look_for_room(struct files *fs, uint64_t in_use, uint64_t limit)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool was_full = fs->full;

	fs->in_use = in_use;
	fs->over_since = in_use <= limit ? 0 : fs->over_since ? fs->over_since : now;
	fs->full = allowance() && fs->over_since && now - fs->over_since > SHORT_NS;
	if (fs->full && !was_full)
		log_warn("memory: %llu MiB are in use, and %llu allowed: new programs get no tables, and their stacks "
			"may end early", (unsigned long long)in_use >> 20, (unsigned long long)limit >> 20);
}

uint64_t files_excess(struct files *fs)
{
	uint64_t in_use = memory_resident() + fs->kernel, limit = limit_of(fs);
	bool released = in_use > limit;

	if (released) {
		release(fs);
		in_use = memory_resident() + fs->kernel;
	}
	look_for_room(fs, in_use, limit);
	fs->fresh = 0;
	fs->due = clock_ns(CLOCK_MONOTONIC_COARSE) + (released ? RELEASED_NS : LOOK_NS);
	return in_use > limit ? in_use - limit / 4 * 3 : 0;
}

unsigned files_refused(const struct files *fs)
{
	return fs->refused;
}

static void make_up(struct files *fs, struct file *f)
{
	fs->refused--;
	f->refused = false;
	f->later = !f->mapped;
	if (f->mapped)
		file_restore(fs, f);
}

bool files_make_up(struct files *fs)
{
	bool made = false;

	fs->makes_up = true;
	for (size_t i = 1; i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (f && f->refused && f->key && !fs->full &&
			(!f->mapped || f->large || fs->in_use + fs->fresh < limit_of(fs) / 4 * 3)) {
			make_up(fs, f);
			made |= f->mapped && !f->refused;
		}
		if (f)
			f->mapped = false;
	}
	fs->makes_up = false;
	return made;
}

static int least_used_first(const void *pa, const void *pb)
{
	const struct file *const *a = pa, *const *b = pb;

	return ((*a)->used > (*b)->used) - ((*a)->used < (*b)->used);
}

/* The vDSO has no inode. A file that was opened just now will be mapped, or its process has ended and its
 * records are still to come. */
static bool is_kept(const struct files *fs, const struct file *f, uint64_t now)
{
	if (f && f->jit)
		return f->mapped || !perfmap_over(f->jit);
	return !f || !f->elf || f->mapped || !f->inodes || f == fs->libc || f == fs->stand_in ||
		now - f->used < KEPT_NS;
}

size_t files_choose(struct files *fs, uint64_t excess, struct file ***ret)
{
	struct file **list = calloc(fs->files.len + 1, sizeof(*list));
	uint64_t bytes = 0, now = clock_ns(CLOCK_MONOTONIC_COARSE);
	size_t n = 0, chosen = 0;

	for (size_t i = 1; list && i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (!is_kept(fs, f, now))
			list[n++] = f;
		if (f)
			f->mapped = false;
	}
	if (n)
		qsort(list, n, sizeof(*list), least_used_first);
	while (chosen < n && bytes < excess)
		bytes += memory_of(list[chosen++]);
	*ret = list;
	return chosen;
}

void files_evict(struct files *fs, struct file *f)
{
	f->leaving = false;
	if (f->jit) {
		perfmap_drop(f->jit);
		return;
	}
	for (const struct file_inode *at = f->inodes; at; at = at->next) {
		const struct inode_key key = { .inode = at->inode, .dev = at->major << 20 | at->minor };

		idmap_remove(&fs->by_inode, inode_key(at->major, at->minor, at->inode));
		fs->maps->set_inode(fs->maps, &key, NULL);
	}
	f->inodes = NULL;
	fs->maps->drop_table(fs->maps, f->id);
	fs->kernel -= f->table.size;
	allowance_take(-(int64_t)f->table.size);
	f->build_id_size = (uint8_t)elf_build_id(f->elf, f->build_id);
	if (f->inlines)
		fs->stored += inlines_store(f->inlines);
	file_close(fs, f);
	f->table = (struct table){};
	f->evicted = true;
	fs->stats.evicted++;
}
