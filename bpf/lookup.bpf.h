/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lookup.bpf.h - the cache of rules by address, one per CPU.
 *
 * An entry is one u64, so that a program which interrupts another cannot tear it:
 *     40 bits of tag | 24 bits of rule
 * Index (12 bits) and tag together are exactly file (20 bits) and vaddr (32 bits). The
 * rules of nearly all frames fit: bit 23 set, fp or sp, slot (8 bits), offset / 8 (14
 * bits); small numbers are 1 + rules that are a kind alone; others are not kept. */
#pragma once
#include "walk.bpf.h"

#define CACHE_ENTRIES 4096

struct rule_cache {
	__u64 entry[CACHE_ENTRIES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule_cache);
} rule_cache SEC(".maps");

static __always_inline __u64 *cache_entry(struct walk *w, __u64 vaddr)
{
	__u32 zero = 0;
	struct rule_cache *c = bpf_map_lookup_elem(&rule_cache, &zero);
	__u64 at = vaddr ^ vaddr >> 12 ^ w->map.file;

	if (!c || vaddr >> 32)
		return NULL;
	FORGET(at);
	return &c->entry[at & (CACHE_ENTRIES - 1)];
}

static __always_inline __u64 cache_tag(struct walk *w, __u64 vaddr)
{
	return (__u64)(w->map.file & 0xfffff) << 20 | vaddr >> 12;
}

/* The kept form of a rule; 0: it has none. */
static __always_inline __u64 cache_pack(__u64 rule)
{
	__u64 slot = rule >> 16 & 0xffff, offset = rule >> 32;

	if (!(rule >> 4))
		return 1 + rule;
	if ((rule & 0xffff & ~0x10ULL) != RULE_CFA || (offset & 7) || offset >> 17 ||
		((slot + 0x80) & 0xffff) > 0xff)
		return 0;
	return 1 << 23 | (rule >> 4 & 1) << 22 | (slot & 0xff) << 14 | offset >> 3;
}

static __always_inline __u64 cache_unpack(__u64 packed)
{
	__u64 slot = (__u64)(__s64)(__s8)(packed >> 14) & 0xffff;

	if (!(packed & 1 << 23))
		return (packed - 1) & 15;
	return RULE_CFA | (packed >> 22 & 1) << 4 | slot << 16 | (packed & 0x3fff) << 35;
}
