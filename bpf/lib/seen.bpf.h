/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* seen.bpf.h - sets of ids that were sent. They forget: other ids of its bucket push an id out, and its record is
 * sent again. This allows an array, which is created at once and takes a tenth of the memory of an LRU hash map. */
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

/* The number of buckets is a power of two. Returns NULL if the machine's memory, or a test, has no such map. */
static __always_inline struct seen_bucket *seen_bucket(void *map, __u32 buckets, __u64 id)
{
	__u32 at = (id * 0x9e3779b97f4a7c15) >> 40 & (buckets - 1);

	return bpf_map_lookup_elem(map, &at);
}

static __always_inline int seen_has(const struct seen_bucket *b, __u64 id)
{
	return b && (b->id[0] == id || b->id[1] == id || b->id[2] == id || b->id[3] == id);
}

/* Two calls at once may lose one of the ids. */
static __always_inline void seen_add(struct seen_bucket *b, __u64 id)
{
	if (!b)
		return;
	b->id[3] = b->id[2];
	b->id[2] = b->id[1];
	b->id[1] = b->id[0];
	b->id[0] = id;
}

/* ---- ids of objects in processes ---- */

/* Maps an object in a process's memory (hash: of its address, the process, and the object's contents) to the
 * id of 40 bits that was sent. The other bits of the word repeat some of the hash, so that a word written by
 * two CPUs at once is rejected. A bucket is a cache line. */
struct seen_object {
	__u64 hash; /* 0: free */
	__u64 id;
};

struct seen_objects {
	struct seen_object of[SEEN_WAYS];
};

#define SEEN_ID_BITS 40
#define SEEN_ID_MASK ((1ULL << SEEN_ID_BITS) - 1)

#define SEEN_OBJECTS_MAP(name, buckets)                \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);      \
		__uint(map_flags, BPF_F_MMAPABLE);     \
		__uint(max_entries, (buckets));        \
		__type(key, __u32);                    \
		__type(value, struct seen_objects);    \
	} name SEC(".maps")

static __always_inline __u64 seen_mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}

static __always_inline __u64 seen_hash(__u64 addr, __u32 pid, __u64 cookie)
{
	__u64 h = seen_mix(seen_mix(seen_mix(cookie, addr), pid), cookie);

	return h ? h : 1;
}

/* The number of buckets is a power of two, at most 2^20. Returns NULL when seen_bucket() does. */
static __always_inline struct seen_objects *seen_objects(void *map, __u32 buckets, __u64 hash)
{
	__u32 at = (__u32)(hash >> 4) & (buckets - 1);

	return bpf_map_lookup_elem(map, &at);
}

static __always_inline __u64 seen_word(__u64 hash, __u64 id)
{
	return (hash ^ hash >> 20) << SEEN_ID_BITS | (id & SEEN_ID_MASK);
}

/* Returns the id, or 0 if there is none. There are no branches, because the verifier would follow each to the end. */
static __always_inline __u64 seen_id(const struct seen_objects *b, __u64 hash)
{
	__u64 id = 0;

	if (!b)
		return 0;
	for (int i = SEEN_WAYS - 1; i >= 0; i--) {
		__u64 word = b->of[i].id, other = (b->of[i].hash ^ hash) | (seen_word(hash, word) ^ word);

		other = ((other | -other) >> 63) - 1; /* all ones: this is the object */
		FORGET(other);
		id = (id & ~other) | (word & other);
	}
	return id & SEEN_ID_MASK;
}

static __always_inline void seen_add_id(struct seen_objects *b, __u64 hash, __u64 id)
{
	if (!b)
		return;
	for (int i = SEEN_WAYS - 1; i > 0; i--)
		b->of[i] = b->of[i - 1];
	b->of[0] = (struct seen_object){ hash, seen_word(hash, id) };
}
