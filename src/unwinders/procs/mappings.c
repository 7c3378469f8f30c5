// SPDX-License-Identifier: Apache-2.0
/* mappings.c - the array of a process's mappings. */
#include "mappings.h"

#include <string.h>

#include "base/invariant.h"
#include "base/log.h"
#include "base/vec.h"
#include "target/target.h"
#include "unwinders/lang.h"

#define MAPPINGS_MAX (MAPPINGS_PER_CHUNK * MAPPING_CHUNKS)

/* Returns the index of the first mapping that ends above addr. */
static size_t first_behind(const struct process *p, uint64_t addr)
{
	size_t lo = 0, hi = p->nmaps;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->maps[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct mapping *process_mapping(const struct process *p, uint64_t addr)
{
	size_t i = first_behind(p, addr);

	return i < p->nmaps && p->maps[i].start <= addr ? &p->maps[i] : NULL;
}

static void say_full(struct process *p)
{
	if (!p->full)
		log_warn("process %u has more than %d executable mappings: addresses in the others are in no known "
			"mapping", p->pid, MAPPINGS_MAX);
	p->full = true;
}

static void insert_at(struct process *p, size_t at, const struct mapping *m)
{
	if (p->nmaps >= MAPPINGS_MAX) {
		say_full(p);
		return;
	}
	p->maps = vec_grow(p->maps, &p->cap, p->nmaps, sizeof(*p->maps));
	memmove(p->maps + at + 1, p->maps + at, (p->nmaps - at) * sizeof(*p->maps));
	p->maps[at] = *m;
	p->nmaps++;
}

/* A cut mapping keeps its bias, because biases count from the process's addresses. */
void mappings_cut(struct process *p, uint64_t start, uint64_t end)
{
	size_t i = first_behind(p, start);

	while (i < p->nmaps && p->maps[i].start < end) {
		struct mapping *m = &p->maps[i], rest = *m;

		if (m->start < start) {
			m->end = start;
			rest.start = end;
			i++;
			if (rest.end > end)
				insert_at(p, i, &rest);
		} else if (m->end > end) {
			m->start = end;
		} else {
			memmove(m, m + 1, (p->nmaps - i - 1) * sizeof(*m));
			p->nmaps--;
		}
	}
}

/* Returns whether mappings are sorted, disjoint and not empty. */
static bool is_sorted(const struct process *p)
{
	for (size_t i = 0; i < p->nmaps; i++)
		if (p->maps[i].start >= p->maps[i].end || (i && p->maps[i].start < p->maps[i - 1].end))
			return false;
	return true;
}

void mappings_insert(struct process *p, const struct mapping *m)
{
	mappings_cut(p, m->start, m->end);
	insert_at(p, first_behind(p, m->start), m);
	INVARIANT(is_sorted(p));
}

uint32_t mappings_compiled(const char *path)
{
	uint32_t ret = 0;

	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (langs[i]->compiles && langs[i]->compiles(path))
			ret |= MAPPING_LANG(i);
	return ret;
}

bool mappings_is_written(const struct proc_map *maps, size_t n, size_t i)
{
	if (maps[i].exec || !maps[i].write || maps[i].path[0] != '/' || !mappings_compiled(maps[i].path))
		return false;
	for (size_t k = 0; k < n; k++)
		if (maps[k].exec && maps[k].inode == maps[i].inode && maps[k].dev_minor == maps[i].dev_minor &&
			maps[k].dev_major == maps[i].dev_major)
			return false;
	return true;
}

bool mappings_same(const struct process *p, const struct mapping *old, size_t n)
{
	return p->nmaps == n && (!n || !memcmp(p->maps, old, n * sizeof(*old)));
}

/* ---- chunks ---- */

/* Returns the size that the kernel counts in mm_struct.exec_vm. */
static uint32_t code_kb(const struct process *p)
{
	uint64_t size = 0;

	for (size_t i = 0; i < p->nmaps; i++)
		if (!(p->maps[i].flags & MAPPING_WRITE))
			size += p->maps[i].end - p->maps[i].start;
	return (uint32_t)(size >> 10);
}

uint32_t mappings_chunks(const struct process *p)
{
	uint32_t n = (uint32_t)(p->nmaps + MAPPINGS_PER_CHUNK - 1) / MAPPINGS_PER_CHUNK;

	return n ? n : 1; /* the process is known, without mappings */
}

bool process_chunk(const struct process *p, uint32_t i, struct mapping_chunk *ret)
{
	size_t first = (size_t)i * MAPPINGS_PER_CHUNK, n = p->nmaps - first;

	if (i >= mappings_chunks(p))
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->n = n < MAPPINGS_PER_CHUNK ? (uint32_t)n : MAPPINGS_PER_CHUNK;
	ret->chunks = mappings_chunks(p);
	ret->languages = p->languages;
	ret->native_file = p->native_file;
	ret->pcre_start = p->pcre_start;
	ret->pcre_end = p->pcre_end;
	ret->code_kb = i ? 0 : code_kb(p);
	ret->readable = p->readable;
	if (ret->n)
		memcpy(ret->map, p->maps + first, ret->n * sizeof(*p->maps));
	for (uint32_t k = 0; k < ret->n; k++)
		if (ret->map[k].flags & MAPPING_ANON)
			ret->map[k].flags &= MAPPING_LANGS(p->languages) | ((1U << MAPPING_LANGS_SHIFT) - 1);
	for (uint32_t k = 0; !i && p->nmaps && k < ret->chunks; k++)
		ret->chunk_start[k] = p->maps[(size_t)k * MAPPINGS_PER_CHUNK].start;
	return true;
}
