/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lookup.bpf.h - the cache of rules by address, one per CPU.
 *
 * An entry is one u64, so that a program which interrupts another cannot tear it:
 *     40 bits of tag | 24 bits of rule
 * Index (12 bits) and tag together are exactly file (18 bits; only 2^16 files have a table) and vaddr (32 bits). The
 * upper 10 bits of the index are the set; its entries are the last rules that were found, the newest first. The rules
 * of nearly all frames fit: RULE_CFA by sp or fp, with nothing else than an fp slot:
 *     bit 23      such a rule, and outside of an interpreter's loop
 *     bits 17-22  slot, s6
 *     bits 3-16   offset, a multiple of 8, not shifted
 *     bit 2       the address is in an interpreter's loop
 *     bit 1       such a rule
 *     bit 0       the CFA is counted from fp
 * Two others fit: rules that are only a kind (ignoring RULE_ALTERNATE), and those of languages, which also
 * have an offset. They have 1 + kind from bit 3 on, bit 2, and the offset in units of 16 bytes from bit 8 on. */
#pragma once
#include "maps.bpf.h"

static __always_inline __u64 cache_index(__u32 file, __u64 vaddr)
{
	return vaddr ^ vaddr >> 12 ^ file;
}

static __always_inline __u64 cache_tag(__u32 file, __u64 vaddr)
{
	return (__u64)file << 22 | vaddr >> 12 << 2 | (cache_index(file, vaddr) & (CACHE_WAYS - 1));
}

static __always_inline struct cache_set *cache_set(__u32 file, __u64 vaddr)
{
	__u32 zero = 0;
	struct rule_cache *c = bpf_map_lookup_elem(&rule_cache, &zero);
	__u64 at = cache_index(file, vaddr) / CACHE_WAYS;

	FORGET(at);
	return c ? &c->set[at & (CACHE_SETS - 1)] : NULL;
}

/* Returns the entry of an address that w->cached_span covers, or 0 if there is none. */
__u64 cached_rule(__u32 file, __u64 vaddr);

static __always_inline void cache_add(__u32 file, __u64 vaddr, __u64 packed)
{
	struct cache_set *s = cache_set(file, vaddr);

	if (!s)
		return;
	for (int i = CACHE_WAYS - 1; i; i--)
		s->entry[i] = s->entry[i - 1];
	s->entry[0] = cache_tag(file, vaddr) << 24 | packed;
}

#define CACHE_FAST    (1ULL << 23)
#define CACHE_IN_LOOP 4ULL
#define CACHE_CFA   2ULL
#define CACHE_BY_FP   1ULL
#define CACHE_OFFSET  0x1fff8ULL
#define CACHE_FRAME   0x7fff0ULL
/* Fields of an entry or its rule, in words. */
#define CACHE_SLOT(packed) ((__s64)((packed) << 41) >> 58)

/* Returns the cached form of a rule, or 0 if it has none. */
static __always_inline __u64 cache_pack(__u64 rule, int in_loop)
{
	__u64 slot = rule >> 16 & 0xffff, offset = rule >> 32;
	__u64 loop = in_loop ? CACHE_IN_LOOP : 0;

	if (!((rule & 0xffffffff & ~((__u64)RULE_ALTERNATE << 8)) >> 4) &&
		(!offset || (RULE_KIND(rule) >= RULE_LANG && !(offset & ~CACHE_FRAME))))
		return (1 + RULE_KIND(rule)) << 3 | loop | offset << 4;
	if ((rule & 0xffff & ~0x10ULL) != RULE_CFA || offset & ~CACHE_OFFSET ||
		((slot + 0x20) & 0xffff) > 0x3f)
		return 0;
	return (in_loop ? loop : CACHE_FAST) | (slot & 0x3f) << 17 | offset | CACHE_CFA |
	       (RULE_REG(rule) == RULE_REG_FP);
}

static __always_inline __u64 cache_unpack(__u64 packed)
{
	__u64 slot = (__u64)CACHE_SLOT(packed) & 0xffff;

	if (!(packed & CACHE_CFA))
		return (((packed >> 3) - 1) & 15) | (packed >> 4 & CACHE_FRAME) << 32;
	return RULE_CFA | (packed & CACHE_BY_FP) << 4 | slot << 16 |
	       (packed & CACHE_OFFSET) << 32;
}

static __always_inline void set_span(struct walk *w)
{
	int has_table = w->map.file && !(w->map.flags & (MAPPING_NO_TABLE | MAPPING_ANON));

	w->cached_span = has_table && !((w->map.end - w->map.bias) >> 32) ?
		w->map.end - w->map.start : 0;
}

/* ---- words of a table ---- */

static __always_inline struct table_chunk *chunk_at(void *table, __u32 i)
{
	__u32 chunk = i >> TABLE_CHUNK_SHIFT;

	return bpf_map_lookup_elem(table, &chunk);
}

static __always_inline __u64 word_of(const struct table_chunk *c, __u32 i)
{
	FORGET(i);
	return c->word[i & ((1 << TABLE_CHUNK_SHIFT) - 1)];
}

static __always_inline __u64 word_at(void *table, __u32 i)
{
	struct table_chunk *c = chunk_at(table, i);

	return c ? word_of(c, i) : 0;
}

static __always_inline __u32 half_of(const struct table_chunk *c, __u32 i)
{
	return word_of(c, i >> 1) >> ((i & 1) << 5);
}

static __always_inline __u32 half_at(void *table, __u32 i)
{
	return word_at(table, i >> 1) >> ((i & 1) << 5);
}
