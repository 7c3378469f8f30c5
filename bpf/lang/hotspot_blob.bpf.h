/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_blob.bpf.h - HotSpot's objects: the blob of a pc, and methods. Part of hotspot.bpf.c.
 *
 * A CodeHeap is divided into segments. Its segment map has a byte for each: the distance to the first segment of the
 * blob, or to a segment that is nearer to it; 0: this is the first one; 255: the segment is free.
 * (src/hotspot/share/memory/heap.cpp, code/codeBlob.hpp, oops/constMethod.hpp of JDK 8 to 26) */
#pragma once
#include "hotspot_state.bpf.h"

/* Returns whether addr is in the code cache. */
__global int hotspot_in_cache(struct hotspot_scratch *s, __u64 addr)
{
	if (!s)
		return 0;
	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (addr - s->heap[i].low < s->heap[i].span)
			return 1;
	return 0;
}

/* Returns the word at addr if it is an address in the code cache, else 0. */
__global __u64 hotspot_code(struct walk *w, struct hotspot_scratch *s, __u64 addr)
{
	__u64 ra = 0;

	if (!w || !s || walk_word(w, addr, &ra))
		return 0;
	ra = strip(w, ra);
	for (int i = 0; i < HOTSPOT_HEAPS; i++)
		if (ra - s->heap[i].low < s->heap[i].span)
			return ra;
	return 0;
}

static __always_inline void read_heap(const struct hotspot_scratch *s, struct hotspot_heap *h, __u64 at)
{
	__u64 high = 0;

	h->low = h->span = h->segmap = 0;
	if (!at || read_user(at + s->proc.heap_low, &h->low) || read_user(at + s->proc.heap_high, &high) ||
		read_user(at + s->proc.heap_segmap, &h->segmap) || read_u32(at + s->proc.heap_shift, &h->shift))
		return;
	if (high > h->low && high - h->low < 1ULL << 32 && h->shift < 16)
		h->span = high - h->low;
}

static __always_inline int read_heaps(struct hotspot_scratch *s)
{
	__u64 at = 0;
	__u32 n = 1;

	if (read_user(s->proc.heaps, &at) || !at)
		return -1;
	if (!s->proc.one_heap && (read_u32(at + s->proc.array_len, &n) || read_user(at + s->proc.array_data, &at)))
		return -1;
	for (__u32 i = 0; i < HOTSPOT_HEAPS; i++) {
		__u64 heap = at;

		s->heap[i].span = 0;
		if (i < n && (s->proc.one_heap || !read_user(at + 8 * i, &heap)))
			read_heap(s, &s->heap[i], heap);
	}
	return 0;
}

/* Returns the address of the blob that contains pc, or 0 if there is none. */
static __always_inline __u64 find_blob(const struct hotspot_scratch *s, __u64 pc)
{
	__u64 low = 0, segmap = 0, seg;
	__u32 shift = 0;
	__u8 hop = 0;

	for (int i = 0; i < HOTSPOT_HEAPS; i++) {
		if (pc - s->heap[i].low < s->heap[i].span) {
			low = s->heap[i].low;
			segmap = s->heap[i].segmap;
			shift = s->heap[i].shift;
		}
	}
	if (!low)
		return 0;
	seg = (pc - low) >> (shift & 15);
	for (int i = 0; i < HOTSPOT_HOPS; i++) {
		if (bpf_probe_read_user(&hop, 1, (void *)(segmap + seg)) || hop == 255 || hop > seg)
			return 0;
		if (!hop)
			return low + (seg << (shift & 15)) + s->proc.block_size;
		seg -= hop;
	}
	return 0;
}

#define NAME8(a, b, c, d, e, f, g, h)                                                    \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 |            \
		(__u64)(e) << 32 | (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* Names of blobs: src/hotspot/share/code/codeBlob.cpp, runtime/stubRoutines.cpp. */
static __always_inline void sort_blob(struct hotspot_scratch *s, struct hotspot_blob *b)
{
	b->kind = HOTSPOT_STUB;
	b->sort = b->size ? SORT_SIZED : SORT_LEAF;
	switch (s->name[0]) {
	case NAME8('n', 'm', 'e', 't', 'h', 'o', 'd', 0):
		b->kind = HOTSPOT_COMPILED;
		break;
	case NAME8('n', 'a', 't', 'i', 'v', 'e', ' ', 'n'):
		b->kind = HOTSPOT_NATIVE;
		break;
	case NAME8('I', 'n', 't', 'e', 'r', 'p', 'r', 'e'):
		b->sort = SORT_INTERPRETER;
		break;
	case NAME8('I', '2', 'C', '/', 'C', '2', 'I', ' '):
		b->sort = SORT_ADAPTER;
		break;
	case NAME8('v', 't', 'a', 'b', 'l', 'e', ' ', 'c'):
	case NAME8('M', 'e', 't', 'h', 'o', 'd', 'H', 'a'):
	case NAME8('f', 'l', 'u', 's', 'h', '_', 'i', 'c'): /* called from C++ */
		b->sort = SORT_JUMP;
		break;
	case NAME8('S', 't', 'u', 'b', 'R', 'o', 'u', 't'): /* StubRoutines (continuation.. */
		b->sort = SORT_STUB;
		if (s->name[1] == NAME8('i', 'n', 'e', 's', ' ', '(', 'c', 'o') &&
			s->name[2] == NAME8('n', 't', 'i', 'n', 'u', 'a', 't', 'i'))
			b->sort = SORT_BARRIER;
		break;
	}
}

/* Returns an address in the header: it has the address, or the distance from the blob. */
static __always_inline __u64 address_in(const struct hotspot_scratch *s, __u64 blob, __u32 offset, int is_offset)
{
	__u64 v = field(s, offset);

	return is_offset ? blob + (__u32)v : v;
}

/* Reads the blob of pc into s->blob. Returns 0, or -1 if there is none. */
__global int hotspot_blob(struct hotspot_scratch *s, __u64 pc)
{
	const struct hotspot_proc *p;
	struct hotspot_blob *b;
	__u64 at, words, complete;

	if (!s)
		return -1;
	p = &s->proc;
	b = &s->blob;
	at = find_blob(s, pc);
	b->at = 0;
	/* After a small blob, memory may end. */
	if (!at || (bpf_probe_read_user(s->words, 8 * HOTSPOT_WORDS - 128, (void *)at) &&
		bpf_probe_read_user(s->words, 128, (void *)at)))
		return -1;
	b->name = field(s, p->blob_name);
	if (bpf_probe_read_user(s->name, sizeof(s->name), (void *)b->name))
		return -1;
	words = (__u32)field(s, p->blob_frame_size);
	b->size = words < HOTSPOT_FRAME_MAX / 8 ? words * 8 : 0;
	complete = field(s, p->blob_complete);
	complete = p->complete_bytes == 2 ? (__u64)(__s64)(__s16)complete : (__u64)(__s64)(__s32)complete;
	b->complete = (__s64)complete < 0 ? 0 : (__u32)complete;
	b->code = address_in(s, at, p->blob_code, p->code_is_offset);
	sort_blob(s, b);
	b->method = 0;
	b->compile_id = 0;
	b->deopt = b->deopt_mh = 0;
	if (b->kind == HOTSPOT_COMPILED || b->kind == HOTSPOT_NATIVE) {
		b->method = field(s, p->method);
		b->compile_id = (__u32)field(s, p->compile_id);
		b->deopt = address_in(s, at, p->deopt, p->deopt_is_offset);
		if (p->deopt_mh)
			b->deopt_mh = address_in(s, at, p->deopt_mh, p->deopt_is_offset);
		b->orig_pc = (__u32)field(s, p->orig_pc);
	}
	b->at = at;
	return 0;
}

/* Returns a hash of the end of a Symbol: a class that was loaded after another one was unloaded may have all addresses
 * of that one. */
static __always_inline __u64 symbol_print(struct hotspot_scratch *s, __u64 symbol)
{
	__u16 length = 0;
	__u64 size, from, ret;

	bpf_probe_read_user(&length, 2, (void *)(symbol + s->proc.symbol_length));
	size = length;
	FORGET(size); /* else clang compares another copy than the one that it passes on */
	if (size > HOTSPOT_TAIL)
		size = HOTSPOT_TAIL;
	from = length - size;
	s->tail[0] = s->tail[1] = s->tail[2] = s->tail[3] = 0;
	if (size)
		bpf_probe_read_user(s->tail, size, (void *)(symbol + s->proc.symbol_body + from));
	ret = seen_mix(seen_mix(length, s->tail[0]), s->tail[1]);
	return seen_mix(seen_mix(ret, s->tail[2]), s->tail[3]);
}

/* Reads a Method: its ConstMethod, pool, class. Returns a hash that is the same while it is the same method, or 0 if it
 * is not a method. */
static __always_inline __u64 method_print(struct hotspot_scratch *s, __u64 method)
{
	__u64 name = 0;

	if ((method & 7) || read_user(method + s->proc.method_const, &s->constant) || (s->constant & 7) ||
		bpf_probe_read_user(s->words, 64, (void *)s->constant))
		return 0;
	s->pool = field(s, s->proc.const_pool);
	s->code_size = (__u16)field(s, s->proc.const_code_size);
	s->name_index = (__u16)field(s, s->proc.const_name);
	s->base = s->constant + s->proc.const_size;
	if (!s->name_index || read_user(s->pool + s->proc.pool_holder, &s->holder) ||
		read_user(s->holder + s->proc.klass_name, &name) || !name)
		return 0;
	name = seen_mix(seen_mix(seen_mix(s->proc.generation, method), s->constant), symbol_print(s, name));
	return seen_mix(seen_mix(name, s->pool), (__u64)s->code_size << 32 | s->name_index) | 1;
}
