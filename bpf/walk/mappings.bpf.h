/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* mappings.bpf.h - the mappings of processes that userspace has published: the maps, and the search by address. An
 * object defines the maps if it defines WALK_MAP.
 *
 * Searches are bisections without branches: each step halves n whatever it finds, so the verifier sees one
 * path. Operands of the comparison are below 2^63. */
#pragma once
#include "bpf/lib/kernel.bpf.h"
#include "unwind.h"

#ifndef WALK_MAP
#define WALK_MAP extern
#endif

WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct mapping_key);
	__type(value, struct mapping_chunk);
} mappings SEC(".maps");

/* Small enough for the kernel's linear mapping, whose pages are large. */
WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAPPING_VERSIONS);
	__type(key, __u32);
	__type(value, __u64);
} mapping_versions SEC(".maps");

static __always_inline struct mapping_chunk *chunk_of(__u32 pid, __u32 chunk)
{
	struct mapping_key key = {.pid = pid, .chunk = chunk};

	return bpf_map_lookup_elem(&mappings, &key);
}

/* Returns the last element of chunk_start[] that is not above addr. */
static __always_inline __u32 which_chunk(struct mapping_chunk *first, __u64 addr)
{
	__u32 at = 0, n = first->chunks;

	if (n > MAPPING_CHUNKS)
		n = MAPPING_CHUNKS;
	for (int i = 0; i < 6; i++) {
		__u32 half = n >> 1, k = at + half;

		FORGET(k);
		at += half * not_above(first->chunk_start[k & (MAPPING_CHUNKS - 1)], addr);
		n -= half;
	}
	return at;
}

static __always_inline __u32 which_mapping(struct mapping_chunk *c, __u64 addr)
{
	__u32 at = 0, n = c->n;

	if (n > MAPPINGS_PER_CHUNK)
		n = MAPPINGS_PER_CHUNK;
	for (int i = 0; i < 9 && n > 1; i++) {
		__u32 half = n >> 1, k = at + half;

		FORGET(k);
		at += half * not_above(c->map[k & (MAPPINGS_PER_CHUNK - 1)].start, addr);
		n -= half;
	}
	FORGET(at);
	return at & (MAPPINGS_PER_CHUNK - 1);
}

/* Returns the last mapping that does not begin above addr, of the process whose chunk 0 is c, or NULL if there is
 * none. If all begin above addr, returns the first one. */
static __always_inline struct mapping *mapping_below(struct mapping_chunk *c, __u32 pid, __u64 addr)
{
	__u32 chunk;

	if (c->chunks > 1) {
		chunk = which_chunk(c, addr);
		c = chunk ? chunk_of(pid, chunk) : c;
		if (!c)
			return NULL;
	}
	return c->n ? &c->map[which_mapping(c, addr)] : NULL;
}
