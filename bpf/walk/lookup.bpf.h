/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lookup.bpf.h - the cache of rules by address, one per CPU.
 *
 * An entry is one u64, so that a program which interrupts another cannot tear it:
 *     40 bits of tag | 24 bits of rule
 * Index (12 bits) and tag together are exactly file (20 bits) and vaddr (32 bits). The
 * rules of nearly all frames fit, those that are plain:
 *     bit 23      plain, and in no interpreter's loop
 *     bits 17-22  slot, s6
 *     bits 3-16   offset, a multiple of 8, in its place
 *     bit 2       the address is in an interpreter's loop
 *     bit 1       plain
 *     bit 0       the CFA is counted from fp
 * Of the others those are kept that are a kind alone (RULE_GO_ODD aside), and RULE_GO's: 1 +
 * kind from bit 3 on, bit 2, and the frame's size in 16 bytes from bit 8 on. */
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

static __always_inline __u64 cache_index(__u32 file, __u64 vaddr)
{
	return vaddr ^ vaddr >> 12 ^ file;
}

static __always_inline __u64 *cache_entry(struct walk *w, __u64 vaddr)
{
	__u32 zero = 0;
	struct rule_cache *c = bpf_map_lookup_elem(&rule_cache, &zero);
	__u64 at = cache_index(w->map.file, vaddr);

	if (!c || !w->cached_span)
		return NULL;
	FORGET(at);
	return &c->entry[at & (CACHE_ENTRIES - 1)];
}

static __always_inline __u64 cache_tag(__u32 file, __u64 vaddr)
{
	return (__u64)file << 20 | vaddr >> 12;
}

#define CACHE_ALONE   (1ULL << 23)
#define CACHE_IN_LOOP 4ULL
#define CACHE_PLAIN   2ULL
#define CACHE_BY_FP   1ULL
#define CACHE_OFFSET  0x1fff8ULL
#define CACHE_FRAME   0x7fff0ULL
/* Of an entry or its rule. In words. */
#define CACHE_SLOT(packed) ((__s64)((packed) << 41) >> 58)

/* The kept form of a rule; 0: it has none. */
static __always_inline __u64 cache_pack(__u64 rule, int in_loop)
{
	__u64 slot = rule >> 16 & 0xffff, offset = rule >> 32;
	__u64 loop = in_loop ? CACHE_IN_LOOP : 0;

	if (!((rule & 0xffffffff & ~((__u64)RULE_GO_ODD << 8)) >> 4) &&
		(!offset || (((rule & 15) == RULE_GO || (rule & 15) == RULE_V8) && !(offset & ~CACHE_FRAME))))
		return (1 + (rule & 15)) << 3 | loop | offset << 4;
	if ((rule & 0xffff & ~0x10ULL) != RULE_CFA || offset & ~CACHE_OFFSET ||
		((slot + 0x20) & 0xffff) > 0x3f)
		return 0;
	return (in_loop ? loop : CACHE_ALONE) | (slot & 0x3f) << 17 | offset | CACHE_PLAIN |
	       (rule >> 4 & 1);
}

static __always_inline __u64 cache_unpack(__u64 packed)
{
	__u64 slot = (__u64)CACHE_SLOT(packed) & 0xffff;

	if (!(packed & CACHE_PLAIN))
		return (((packed >> 3) - 1) & 15) | (packed >> 4 & CACHE_FRAME) << 32;
	return RULE_CFA | (packed & CACHE_BY_FP) << 4 | slot << 16 |
	       (packed & CACHE_OFFSET) << 32;
}
