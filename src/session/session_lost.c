// SPDX-License-Identifier: Apache-2.0
/* session_lost.c - config find_lost: before the probes end, the keys of @kept whose block of memory is lost are put
 * into @lost. The probes still count, so that a block that is freed meanwhile leaves @kept. */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "model/image.h"
#include "model/type.h"
#include "session/lost.h"
#include "session/session_priv.h"
#include "values/entries.h"

#define SEARCH_NS 5000000000ull /* the longest search in a process */

/* Returns a map of the script by its name without @, or NULL. */
static const struct image_map *find_map(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->shared.maps.len; i++) {
		const struct image_map *m = s->shared.maps.data[i].script;

		if (m && !strcmp(m->name, name))
			return m;
	}
	return NULL;
}

/* Returns whether a type is a tuple that begins with integers, n of them. */
static bool begins_with_ints(const struct type *t, unsigned n)
{
	if (!t || t->kind != TYPE_TUPLE || t->tuple.n < n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (t->tuple.members[i]->kind != TYPE_INT)
			return false;
	return true;
}

static uint64_t member(const struct type *t, const uint8_t *data, unsigned i)
{
	return (uint64_t)show_int(t->tuple.members[i], data + t->tuple.offsets[i]);
}

static int by_address(const void *pa, const void *pb)
{
	const struct block *a = pa, *b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Collects the blocks of one process, sorted by address. Returns their number. */
static size_t blocks_of(const struct map_content *c, uint64_t pid, struct block *blocks)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct map_entry *e = &c->list[i];
		uint64_t size = member(c->map->value, e->value, 0);

		if (member(c->map->key, e->key, 0) == pid)
			blocks[n++] = (struct block){.addr = member(c->map->key, e->key, 1),
				.size = size ? size : 1, .index = i};
	}
	qsort(blocks, n, sizeof(*blocks), by_address);
	return n;
}

/* Another block may have the address by now: then the value differs. */
static void note_lost(const struct session *s, const struct map_content *c, const struct map_entry *e,
	const struct image_map *lost)
{
	_cleanup_(freep) uint8_t *now = malloc(c->map->value_size), *one = calloc(1, lost->value_size);

	if (!now || !one)
		out_of_memory();
	one[0] = 1;
	if (!bpf_map_lookup_elem(shared_fd(&s->shared, c->map->bpf_name), e->key, now) &&
		!memcmp(now, e->value, c->map->value_size))
		bpf_map_update_elem(shared_fd(&s->shared, lost->bpf_name), e->key, one, BPF_ANY);
}

static void search(struct session *s, const struct map_content *c, uint64_t pid, struct block *blocks,
	const struct image_map *lost)
{
	size_t n = blocks_of(c, pid, blocks), nlost = 0;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int r = lost_search(s->target, (int)pid, blocks, n, SEARCH_NS);

	if (r == -ETIMEDOUT)
		log_warn("process %" PRIu64 " has more memory than 5 s suffice for: no block counts as lost", pid);
	if (r)
		return;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].is_found)
			continue;
		note_lost(s, c, &c->list[blocks[i].index], lost);
		nlost++;
	}
	log_info("process %" PRIu64 ": %zu of %zu blocks are lost; the search took %" PRIu64 " ms", pid, nlost, n,
		(clock_ns(CLOCK_MONOTONIC) - start) / 1000000);
}

static bool is_first_of(const struct map_content *c, size_t i)
{
	uint64_t pid = member(c->map->key, c->list[i].key, 0);

	for (size_t k = 0; k < i; k++)
		if (member(c->map->key, c->list[k].key, 0) == pid)
			return false;
	return true;
}

void session_find_lost(struct session *s)
{
	const struct image_map *kept = find_map(s, "kept"), *lost = find_map(s, "lost");
	struct map_wanted wanted = {};
	struct map_content c;
	struct block *blocks;

	if (!s->opt.settings->find_lost || !kept || !lost || kept->per_cpu || kept->taken || lost->taken ||
		!begins_with_ints(kept->key, 2) || !begins_with_ints(kept->value, 1) || !type_eq(kept->key, lost->key))
		return;
	if (map_read(&s->show, shared_fd(&s->shared, kept->bpf_name), kept, &wanted, &c) < 0) {
		map_content_done(&c);
		return;
	}
	blocks = calloc(c.n + 1, sizeof(*blocks));
	if (!blocks)
		out_of_memory();
	for (size_t i = 0; i < c.n; i++)
		if (is_first_of(&c, i))
			search(s, &c, member(kept->key, c.list[i].key, 0), blocks, lost);
	free(blocks);
	map_content_done(&c);
}
