/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* maps.bpf.h - the maps and constants of the walk and the languages. unwind.bpf.c defines them. */
#pragma once
#include "bpf/lib/kernel.bpf.h"
#include "walk.bpf.h"

#ifndef WALK_MAP
#define WALK_MAP extern
#endif

#define FRAMES_MASK_DEFAULT 1023
_Static_assert(UNWIND_LIMIT_DEFAULT == FRAMES_MASK_DEFAULT + 1, "size of frames[]");

/* One per CPU and slot: SCRATCH_SLOTS * CPUs entries. Mmapable only so that it begins at a page, which aligns
 * the window in a struct walk. */
WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

/* One per CPU and slot; a struct stack_record with frames_mask + 1 frames. */
WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stack_record) + 8 * (FRAMES_MASK_DEFAULT + 1));
} frames SEC(".maps");

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

#define CACHE_ENTRIES 4096

struct rule_cache {
	__u64 entry[CACHE_ENTRIES];
};

WALK_MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule_cache);
} rule_cache SEC(".maps");
