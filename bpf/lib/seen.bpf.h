/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* seen.bpf.h - sets of ids of what was sent. They forget: an id is pushed out by others of its
 * bucket, and what it stands for is sent again. So an array does, which is made in no time and
 * takes a tenth of the memory of an LRU hash map. */
#pragma once
#include "kernel.bpf.h"

#define SEEN_WAYS 4

struct seen_bucket {
	__u64 id[SEEN_WAYS]; /* the newest first; 0: free */
};

#define SEEN_MAP(name, buckets)                        \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);      \
		__uint(max_entries, (buckets));        \
		__type(key, __u32);                    \
		__type(value, struct seen_bucket);     \
	} name SEC(".maps")

/* Buckets are a power of two. NULL: the machine's memory, or a test, has no such map. */
static __always_inline struct seen_bucket *seen_bucket(void *map, __u32 buckets, __u64 id)
{
	__u32 at = (id * 0x9e3779b97f4a7c15) >> 40 & (buckets - 1);

	return bpf_map_lookup_elem(map, &at);
}

static __always_inline int seen_has(const struct seen_bucket *b, __u64 id)
{
	return b && (b->id[0] == id || b->id[1] == id || b->id[2] == id || b->id[3] == id);
}

/* Two at once may lose one of them. */
static __always_inline void seen_add(struct seen_bucket *b, __u64 id)
{
	if (!b)
		return;
	b->id[3] = b->id[2];
	b->id[2] = b->id[1];
	b->id[1] = b->id[0];
	b->id[0] = id;
}
