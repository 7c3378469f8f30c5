/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot_names.bpf.h - the record of a new code position: the names of the method, its class and its file. Part of
 * hotspot.bpf.c. */
#pragma once
#include "hotspot_blob.bpf.h"

/* Reads a Symbol. */
__global int hotspot_text(struct hotspot_scratch *s, __u64 symbol, struct hotspot_text *out)
{
	__u16 length = 0;
	__u64 size;

	if (!s || !out)
		return -1;
	out->size = out->full = 0;
	if (!symbol || (symbol & 7) || bpf_probe_read_user(&length, 2, (void *)(symbol + s->proc.symbol_length)))
		return -1;
	size = length;
	FORGET(size); /* else clang compares another copy than the one that it passes on */
	if (size > HOTSPOT_TEXT_MAX)
		size = HOTSPOT_TEXT_MAX;
	if (!size || bpf_probe_read_user(out->chars, size, (void *)(symbol + s->proc.symbol_body)))
		return -1;
	out->size = size;
	out->full = length;
	return 0;
}

static __always_inline __u64 pool_symbol(const struct hotspot_scratch *s, __u32 index)
{
	__u64 symbol = 0;

	return index && !read_user(s->pool + s->proc.pool_size + 8ULL * index, &symbol) ? symbol : 0;
}

static __always_inline int method_names(struct hotspot_scratch *s)
{
	struct hotspot_record *r = &s->out;
	__u64 klass = 0;
	__u16 file = 0;

	if (!method_print(s, r->method))
		return -1;
	r->constant = s->constant;
	read_user(s->holder + s->proc.klass_name, &klass);
	bpf_probe_read_user(&file, 2, (void *)(s->proc.pool_file ? s->pool + s->proc.pool_file :
		s->holder + s->proc.klass_file));
	hotspot_text(s, klass, &r->klass);
	hotspot_text(s, pool_symbol(s, file), &r->file);
	return hotspot_text(s, pool_symbol(s, s->name_index), &r->name);
}

static __always_inline void stub_name(struct hotspot_scratch *s)
{
	struct hotspot_text *t = &s->out.name;

	t->size = 0;
	if (!bpf_probe_read_user(t->chars, 64, (void *)s->blob.name))
		t->size = t->full = 64; /* userspace finds the end */
}

/* Sends the frame of s->place. Returns 0 if userspace has it. */
__global int hotspot_send(struct walk *w, struct hotspot_scratch *s)
{
	struct seen_bucket *b;
	struct hotspot_place *f;

	if (!w || !s)
		return -1;
	f = &s->place;
	b = seen_bucket(&hotspot_seen, HOTSPOT_SEEN_BUCKETS, f->frame);
	if (seen_has(b, f->frame))
		return 0;
	s->out.frame = f->frame;
	s->out.kind = f->kind;
	s->out.bci = f->bci;
	s->out.method = f->method;
	s->out.constant = s->out.blob = s->out.pc = 0;
	s->out.compile_id = 0;
	s->out.exact = !!f->exact;
	s->out.klass.size = s->out.file.size = 0;
	s->out.name.size = 0;
	if (f->kind != HOTSPOT_INTERPRETED) {
		if (hotspot_blob(s, f->real))
			return -1;
		s->out.method = s->blob.method;
		s->out.blob = s->blob.at;
		s->out.pc = f->real;
		s->out.compile_id = s->blob.compile_id;
	}
	if (s->out.method)
		method_names(s);
	else
		stub_name(s);
	s->out.head.head = (struct record){RECORD_LANG, FRAME_LANG_JAVA};
	s->out.head.pid = w->pid;
	s->out.head.time = bpf_ktime_get_ns();
	if (ring_output(&s->out, sizeof(s->out)))
		return -1;
	seen_add(b, f->frame);
	return 0;
}
