/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* perl_cookie.bpf.h - the cookie of Perl's code. Part of perl.bpf.c. */
#pragma once

struct file_hash {
	struct perl_scratch *s;
	__u64 size; /* bytes, with the last NUL */
	__u64 h;
};

/* Hashes one word of the file's name in s->code; the bytes after its end are stale. */
static long hash_file(__u32 i, void *data)
{
	struct file_hash *hash = data;
	__u64 at = 8ULL * i, word;

	if (at >= hash->size)
		return 1;
	word = code_word(hash->s, at);
	if (hash->size - at < 8)
		word &= (1ULL << ((hash->size - at) * 8)) - 1;
	hash->h = seen_mix(hash->h, word);
	return 0;
}

/* Returns the hash of the file's name. */
static __always_inline __u64 name_hash(struct perl_scratch *s)
{
	struct file_hash hash = { .s = s };
	long size;

	if (s->own.last.file == s->own.file && s->own.last.file_walk == s->walk)
		return s->own.last.file_hash;
	size = bpf_probe_read_user_str(s->code, CODE_BYTES, (const void *)s->own.file);
	hash.size = size > 0 ? (__u64)size : 0;
	bpf_loop(CODE_BYTES / 8, hash_file, &hash, 0);
	s->own.last.file = s->own.file;
	s->own.last.file_hash = hash.h;
	s->own.last.file_walk = s->walk;
	return hash.h;
}

/* Returns the cookie of the code in s->own. The strings of files that eval has run, "(eval 12)", have the same
 * addresses one after the other, and so have names that were freed. */
__global __u64 perl_cookie(struct perl_scratch *s)
{
	__u64 head = 0, h;

	if (!s)
		return 0;
	h = seen_mix(seen_mix(s->own.name, s->own.package), name_hash(s));
	if (s->own.name && !read_word(s->own.name, &head))
		h = seen_mix(h, head);
	if (s->own.package == s->own.last.package && s->own.last.stash_walk == s->walk)
		return seen_mix(h, s->own.last.head);
	if (s->own.package && !read_word(s->own.package, &head))
		h = seen_mix(h, head);
	return h;
}
