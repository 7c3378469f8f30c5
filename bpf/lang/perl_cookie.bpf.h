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

	if (has_last(s, LAST_FILE, s->own.file))
		return s->last[LAST_FILE].value;
	size = bpf_probe_read_user_str(s->code, CODE_BYTES, (const void *)s->own.file);
	hash.size = size > 0 ? (__u64)size : 0;
	bpf_loop(CODE_BYTES / 8, hash_file, &hash, 0);
	return set_last(s, LAST_FILE, s->own.file, hash.h);
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
	if (!s->own.package)
		return h;
	if (has_last(s, LAST_PACKAGE, s->own.package))
		return seen_mix(h, s->last[LAST_PACKAGE].value);
	return read_word(s->own.package, &head) ? h : seen_mix(h, set_last(s, LAST_PACKAGE, s->own.package, head));
}

/* Without threads, the file is a glob of the debugger, "_<file". */
static __always_inline __u64 file_name(struct perl_scratch *s, __u64 file)
{
	__u64 body = 0, hek = 0;

	if (s->proc.key)
		return file;
	if (has_last(s, LAST_GLOB, file))
		return s->last[LAST_GLOB].value;
	if (read_word(file + SV_ANY, &body) || read_word(body + GV_NAME, &hek))
		return file;
	return set_last(s, LAST_GLOB, file, hek + HEK_KEY + 2);
}
