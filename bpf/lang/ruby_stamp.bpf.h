/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* ruby_stamp.bpf.h - the collections of Ruby's garbage collector, and texts that tell an object from one in its room.
 * Part of ruby.bpf.c. */
#pragma once

/* Sets own.stamp and own.major: the code of a frame that is met now lives as long as one of them is the same. Returns
 * 0. */
__global int ruby_stamp(struct ruby_scratch *s)
{
	__u64 vm = 0, heap = 0, major;
	__u8 mode = GC_MODE;

	if (!s)
		return -1;
	s->own.stamp = s->own.major = 0;
	if (!s->proc.vm || read_word(s->proc.vm, &vm) || read_word(vm + s->proc.heap, &heap) ||
		bpf_probe_read_user(s->own.counts, sizeof(s->own.counts), (const void *)(heap + s->proc.gc_counts)) ||
		bpf_probe_read_user(&mode, sizeof(mode), (const void *)(heap + s->proc.gc_flags)))
		return 0;
	mode &= GC_MODE;
	if (mode != GC_NONE && mode != GC_SWEEP)
		return 0;
	s->own.stamp = (__u32)(seen_mix(heap, s->own.counts[RUBY_COUNTS - 1]) >> 32) | 1;
	major = s->proc.at.major;
	if (!major || major >= RUBY_COUNTS)
		return 0;
	FORGET(major);
	major &= RUBY_COUNTS - 1;
	if (s->own.counts[(major - 1) & (RUBY_COUNTS - 1)] + s->own.counts[major] == s->own.counts[RUBY_COUNTS - 1])
		s->own.major = (__u32)(seen_mix(heap, ~s->own.counts[major]) >> 32) | 1;
	return 0;
}

/* Returns a hash of a String's text: of its length and its last bytes. A String in the room of a freed one often has
 * the same address and length. Words at the end of a slot do not change. */
__global __u64 ruby_text(struct ruby_scratch *s, __u64 str)
{
	__u64 head[5] = {}, from, length;
	__u32 n;

	if (!s || (str & 7) || bpf_probe_read_user(head, sizeof(head), (const void *)str))
		return 0;
	from = head[3];
	length = head[2];
	if (!(head[0] & FLAG_APART)) {
		if (s->proc.at.str_embed == 16 || length <= 16)
			return seen_mix(seen_mix(seen_mix(head[0] >> 14 & 31, head[2]), head[3]), head[4]);
		from = str + s->proc.at.str_embed;
	}
	n = length < TEXT_END ? (__u32)length : TEXT_END;
	for (int i = 0; i < TEXT_END / 8; i++)
		s->own.text[i] = 0;
	if (bpf_probe_read_user(s->own.text, n, (const void *)(from + length - n)))
		return length;
	for (int i = 0; i < TEXT_END / 8; i++)
		length = seen_mix(length, s->own.text[i]);
	return length;
}
