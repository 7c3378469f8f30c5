/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* maps.bpf.h - the maps and constants of the walk and the languages. unwind.bpf.c defines them. */
#pragma once
#include "bpf/lib/kernel.bpf.h"
#include "mappings.bpf.h"
#include "walk.bpf.h"

#define FRAMES_MASK_DEFAULT 1023
_Static_assert(UNWIND_LIMIT_DEFAULT == FRAMES_MASK_DEFAULT + 1, "size of frames[]");

/* Rules of the frames that earlier walks on this CPU have found, by the frame's sp. Most of a stack is the same at the
 * next sample, so a walk goes through this memory in order, where the cache of rules has each frame in another line
 * of another page. A walk owns its slot, so nobody else writes meanwhile. */
#define MEMO_ENTRIES 256
#define MEMO_SHIFT   4 /* frames of x86_64 and arm64 are multiples of 16 bytes */
struct rule_memo {
	__u64 key;  /* file << 32 | vaddr */
	__u64 rule; /* an entry of the cache with CACHE_FAST */
};

/* A walk begins a page: another page costs a walk of page tables, which a sample finds in no cache. */
struct walk_memory {
	struct walk walk;
	__u8 pad[PAGE - sizeof(struct walk)];
	struct rule_memo memo[MEMO_ENTRIES];
};
_Static_assert(sizeof(struct walk_memory) % PAGE == 0, "whole pages");

/* One per CPU and slot: SCRATCH_SLOTS * CPUs entries. Mmapable only so that it begins at a page. */
WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct walk_memory);
} walks SEC(".maps");

/* One per CPU and slot; a struct stack_record with frames_mask + 1 frames. */
WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stack_record) + 8 * (FRAMES_MASK_DEFAULT + 1));
} frames SEC(".maps");

struct table_words {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct table_chunk));
};

WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__array(values, struct table_words);
} tables SEC(".maps");

#define CACHE_SETS 1024
#define CACHE_WAYS 4

struct cache_set {
	__u64 entry[CACHE_WAYS];
};

struct rule_cache {
	struct cache_set set[CACHE_SETS];
};

WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule_cache);
} rule_cache SEC(".maps");
