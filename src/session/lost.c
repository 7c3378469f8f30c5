// SPDX-License-Identifier: Apache-2.0
/* lost.c - see lost.h. Pages that the process has never touched are not read: reading would make them. */
#include "lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"
#include "target/target.h"
#include "unwinders/procs/stopped.h"

#define PAGE      4096ull
#define HELD_NS   20000000ull /* how long a thread may take to stop */
#define IN_MEMORY (3ull << 62) /* bits of an entry of /proc/PID/pagemap: present, or swapped out */

enum { BATCH = 256 /* pages that are read at once */ };

struct search {
	struct target *target;
	int pid, pagemap;
	struct block *blocks;
	size_t n, left; /* all blocks; those that were not found yet */
	uint64_t end_ns;
	uint64_t words[BATCH * PAGE / 8];
};

/* Returns the block that contains the address, or NULL. */
static struct block *block_at(const struct search *s, uint64_t addr)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->blocks[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr - s->blocks[low - 1].addr < s->blocks[low - 1].size ? &s->blocks[low - 1] : NULL;
}

/* at: the place of the word; 0: a register. A block's pointers to itself do not count. */
static void look_at(struct search *s, uint64_t word, uint64_t at)
{
	struct block *b = block_at(s, word);

	if (!b || b->is_found || at - b->addr < b->size)
		return;
	b->is_found = true;
	s->left--;
}

/* A page that has gone, or may not be read, has no pointers. */
static void search_pages(struct search *s, uint64_t start, size_t pages)
{
	uint64_t first = s->blocks[0].addr, beyond = s->blocks[s->n - 1].addr + s->blocks[s->n - 1].size - first;
	struct iovec to = {s->words, pages * PAGE}, from = {(void *)start, pages * PAGE};
	ssize_t n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);

	for (ssize_t i = 0; i < n / 8; i++)
		if (s->words[i] - first < beyond)
			look_at(s, s->words[i], start + 8 * (uint64_t)i);
}

static int search_mapping(struct search *s, const struct proc_map *m)
{
	uint64_t entries[BATCH];

	for (uint64_t at = m->start; at < m->end && s->left; at += BATCH * PAGE) {
		size_t want = (size_t)((m->end - at) / PAGE < BATCH ? (m->end - at) / PAGE : BATCH);
		ssize_t n = pread(s->pagemap, entries, want * 8, (off_t)(at / PAGE * 8)) / 8;
		size_t begin = 0;

		if (clock_ns(CLOCK_MONOTONIC) > s->end_ns)
			return -ETIMEDOUT;
		for (size_t i = 0; n > 0 && i <= (size_t)n; i++) {
			if (i < (size_t)n && entries[i] & IN_MEMORY)
				continue;
			if (i > begin)
				search_pages(s, at + begin * PAGE, i - begin);
			begin = i + 1;
		}
	}
	return 0;
}

static int search_memory(struct search *s)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(s->target, s->pid, &maps);
	int r = n < 0 ? (int)n : 0;

	for (ssize_t i = 0; i < n && !r; i++)
		if (maps[i].write && maps[i].read)
			r = search_mapping(s, &maps[i]);
	return r;
}

/* Each thread is held only while its registers are read. */
static int search_registers(struct search *s)
{
	_cleanup_(freep) int *tids = NULL;
	ssize_t n = proc_threads(s->target, s->pid, &tids);
	struct host_regs regs;

	for (ssize_t i = 0; i < n && s->left; i++) {
		if (clock_ns(CLOCK_MONOTONIC) > s->end_ns)
			return -ETIMEDOUT;
		if (stopped_hold(tids[i], HELD_NS))
			continue;
		if (!stopped_regs(tids[i], &regs)) {
			for (size_t k = 0; k < ARRAY_SIZE(regs.other); k++)
				look_at(s, regs.other[k], 0);
			look_at(s, regs.fp, 0);
		}
		stopped_release(tids[i]);
	}
	return n < 0 ? (int)n : 0;
}

int lost_search(struct target *t, int pid, struct block *blocks, size_t n, uint64_t max_ns)
{
	_cleanup_(freep) struct search *s = malloc(sizeof(*s));
	_cleanup_(closep) int pagemap = -1;
	char path[64];
	int r;

	if (!n)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	pagemap = s ? open(target_path(t, path), O_RDONLY | O_CLOEXEC) : -1;
	if (pagemap < 0)
		return s ? -errno : -ENOMEM;
	s->target = t;
	s->pid = pid;
	s->pagemap = pagemap;
	s->blocks = blocks;
	s->n = s->left = n;
	s->end_ns = clock_ns(CLOCK_MONOTONIC) + max_ns;
	r = search_memory(s);
	r = r ? r : search_registers(s);
	return r ? r : search_memory(s);
}
