/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* v8_names.bpf.h - the record of a new code position: the names of the function and of its
 * script. Part of v8.bpf.c. */
#pragma once
#include "v8_state.bpf.h"

/* ---- records of code positions ---- */

/* ORDER of V8's objects/instance-type.h: the low bits of a string's type */
enum {
	V8_SEQUENTIAL = 0, V8_CONS = 1, V8_EXTERNAL = 2, V8_THIN = 5, V8_SHAPE = 7, V8_ONE_BYTE = 8,
	V8_UNCACHED = 16,
	V8_STRINGS = 128,
};

/* Returns the string in a thin string, or in a cons whose second part is empty, or 0 if there is none. */
static __always_inline __u64 string_behind(__u64 string, int shape)
{
	__u64 first = 0, second = 0;
	__u32 length = 0;

	if (read_user(string - 1 + 16, &first))
		return 0;
	if (shape == V8_CONS && (read_user(string - 1 + 24, &second) ||
		bpf_probe_read_user(&length, 4, (void *)(second - 1 + 12)) || length))
		return 0;
	return first;
}

/* Reads the beginning of a string. Returns 0, or -1 if it is empty or not a string. Userspace
 * reads strings of many pieces. */
__global int v8_read_text(__u64 string, __u32 map_type, struct v8_text *out)
{
	int type = read_type(string, map_type);
	__u32 length = 0;
	__u64 chars;

	if (!out)
		return -1;
	out->size = 0;
	if (type < 0 || type >= V8_STRINGS)
		return -1;
	if ((type & V8_SHAPE) == V8_CONS || (type & V8_SHAPE) == V8_THIN) {
		string = string_behind(string, type & V8_SHAPE);
		type = read_type(string, map_type);
		if (type < 0 || type >= V8_STRINGS)
			return -1;
	}
	chars = string - 1 + 16;
	if ((type & V8_SHAPE) == V8_EXTERNAL && !(type & V8_UNCACHED)) {
		if (read_user(string - 1 + 24, &chars))
			return -1;
	} else if ((type & V8_SHAPE) != V8_SEQUENTIAL) {
		return -1;
	}
	if (bpf_probe_read_user(&length, 4, (void *)(string - 1 + 12)) || !length)
		return -1;
	out->wide = !(type & V8_ONE_BYTE);
	length = length > V8_TEXT_MAX ? V8_TEXT_MAX : length << out->wide;
	if (length > V8_TEXT_MAX)
		length = V8_TEXT_MAX;
	if (bpf_probe_read_user(out->chars, length, (void *)chars))
		return -1;
	out->size = length;
	return 0;
}

/* Returns whether no name follows this object of a ScopeInfo's slot: it is the outer scope, which is in the last slot,
 * or the map that the next object in the heap begins with. Only the map of maps is its own. */
static __always_inline int is_behind_names(const struct v8_proc *p, __u64 slot)
{
	__u64 map = 0, of = 0;

	return instance_type(p, slot) == p->scope_type ||
		(!read_user(slot - 1, &map) && !read_user(map - 1, &of) && of == map);
}

/* Words after the variables and their descriptions: a class's variable, the name, the inferred name; a name may be an
 * empty string or undefined. */
#define SCOPE_TAIL 4

__global int v8_read_name(struct v8_record *r)
{
	__u64 name = 0, count = 0, at, slot = 0;
	struct v8_proc *p;
	__u32 pid;
	int hashed;

	if (!r)
		return -1;
	pid = r->head.pid;
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	if (!p || read_user(r->shared - 1 + p->shared_name, &name))
		return -1;
	if (instance_type(p, name) != p->scope_type)
		return v8_read_text(name, p->map_type, &r->name);
	if (read_user(name - 1 + p->scope_count, &count))
		return -1;
	count >>= 32;
	at = name - 1 + p->scope_locals;
	hashed = count >= V8_SCOPE_HASHED && !read_user(at, &slot) && instance_type(p, slot) >= V8_STRINGS;
	at += 8 * (hashed ? count + 1 : 2 * count);
	for (int i = 0; i < SCOPE_TAIL; i++, at += 8) {
		if (read_user(at, &slot) || !is_object(slot))
			continue;
		if (!v8_read_text(slot, p->map_type, &r->name))
			return 0;
		if (is_behind_names(p, slot))
			break;
	}
	return -1;
}

/* Sends a new code position. Returns 0 if userspace has it. */
__global int v8_first_sight(struct v8_record *r)
{
	__u64 at = 0; /* the script, then its name */
	struct seen_bucket *b;
	struct v8_proc *p;
	__u32 pid;

	if (!r)
		return -1;
	b = seen_bucket(&v8_seen, V8_SEEN_BUCKETS, r->frame);
	if (seen_has(b, r->frame))
		return 0;
	pid = r->head.pid; /* Linux 6.1 takes no key from memory that was passed here */
	p = bpf_map_lookup_elem(&v8_procs, &pid);
	if (!p)
		return -1;
	r->head.head = (struct record){RECORD_LANG, FRAME_LANG_JS};
	r->name.size = r->file.size = 0;
	if (!r->wasm)
		v8_read_name(r);
	if (!r->wasm && !read_user(r->shared - 1 + p->shared_script, &at) && instance_type(p, at) == p->script_type &&
		!read_user(at - 1 + p->script_name, &at))
		v8_read_text(at, p->map_type, &r->file);
	if (ring_output(r, sizeof(*r)))
		return -1;
	seen_add(b, r->frame);
	return 0;
}
