// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* request.bpf.c - reads the request of the current thread: see request.h. Linked only if it is used.
 *
 * A record is written by its own thread, which does not run while its event is handled: what is read is one state. */
#include "request.h"

#include "kernel.bpf.h"

#define MODULES_MAX 4096
#define TLS_MAX     (4 << 20) /* size of a thread's variables; the lowest address of a program */
#define ENTRIES_MAX 306       /* attributes of 2 bytes each fill a record */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct request_proc);
} request_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct request_key);
	__type(value, __u32);
} request_keys SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct request_key);
	__type(value, struct request_text);
} request_texts SEC(".maps");

/* Attributes of a record, by CPU and slot, since programs interrupt each other. A value is copied from any index below
 * 1024. */
struct attributes {
	__u8 byte[1024 + REQUEST_TEXT];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct attributes);
} request_attributes SEC(".maps");

/* Offset of the thread pointer in struct task_struct, from BTF: thread.fsbase, arm64: thread.uw.tp_value. */
const volatile __u32 request_task_tp = 0;

static __always_inline int read_word(__u64 at, __u64 *ret)
{
	return (int)bpf_probe_read_user(ret, 8, (const void *)at);
}

static __always_inline __u64 thread_pointer(void)
{
	__u64 tp = 0;

	if (request_task_tp)
		bpf_probe_read_kernel(&tp, 8, (void *)(bpf_get_current_task() + request_task_tp));
	return tp;
}

/* Returns the thread's block of a module that was opened at run time, or 0 if the thread has none yet. */
static __always_inline __u64 module_block(const struct request_proc *p, __u64 tp, __u64 module)
{
	__u64 vector = 0, length = 0, block = 0, size = p->is_musl ? 8 : 16;

	if (module >= MODULES_MAX || read_word(tp + (__u64)(__s64)p->dtv, &vector) || !vector)
		return 0;
	/* The number of modules that the vector has room for: musl keeps it in the first word, glibc before that. */
	if (read_word(p->is_musl ? vector : vector - 16, &length) || module > length)
		return 0;
	if (read_word(vector + module * size, &block) || block == ~0ULL)
		return 0;
	return block;
}

/* Returns the address of the variable, or 0 if the thread has none. */
static __always_inline __u64 variable(const struct request_proc *p, const struct tls_place *v)
{
	__u64 tp = thread_pointer(), word = v->at, pair[2] = {};
	__u64 add = (__u64)(__s64)v->add;

	if (!tp || v->kind == TLS_NONE)
		return 0;
	if (v->kind == TLS_OFFSET)
		return tp + v->at + add;
	if (v->kind == TLS_DESC)
		word += 8;
	if (read_word(word, &pair[0]))
		return 0;
	/* A descriptor's argument is the offset itself, or the address of a pair. */
	if (v->kind == TLS_SLOT || (v->kind == TLS_DESC && pair[0] + TLS_MAX < 2 * TLS_MAX))
		return tp + pair[0] + add;
	if (v->kind == TLS_DESC)
		word = pair[0];
	if (v->kind != TLS_MODULE && bpf_probe_read_user(pair, sizeof(pair), (const void *)word))
		return 0;
	tp = module_block(p, tp, pair[0]);
	return tp ? tp + pair[1] + add : 0;
}

/* Reads the head of the thread's record. Returns its address, or 0 if it has none. */
static __always_inline __u64 record_of(const struct request_proc *p, __u8 head[REQUEST_HEAD])
{
	__u64 at = variable(p, &p->record), record = 0;

	if (!at || read_word(at, &record) || !record)
		return 0;
	if (bpf_probe_read_user(head, REQUEST_HEAD, (const void *)record) || head[REQUEST_VALID] != 1)
		return 0;
	return record;
}

static __always_inline struct request_proc *process(__u32 *ret_pid)
{
	*ret_pid = bpf_get_current_pid_tgid() >> 32;
	return bpf_map_lookup_elem(&request_procs, ret_pid);
}

/* ---- ids ------------------------------------------------------------------ */

/* Returns the 8 hex digits of 4 bytes, the first byte first. */
static __always_inline __u64 digits(__u32 bytes)
{
	__u64 x = bytes, tens;

	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x >> 4 & 0x000f000f000f000fULL) | (x & 0x000f000f000f000fULL) << 8;
	tens = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return x + 0x3030303030303030ULL + tens * ('a' - '0' - 10);
}

static __always_inline __u32 four(const __u8 *p)
{
	return (__u32)p[0] | (__u32)p[1] << 8 | (__u32)p[2] << 16 | (__u32)p[3] << 24;
}

/* Writes n groups of 4 bytes, unless all are zero. */
#define WRITE_DIGITS(to, from, n)                                                        \
	do {                                                                             \
		__u32 any_ = 0;                                                          \
		for (int i_ = 0; i_ < (n); i_++)                                         \
			any_ |= four((from) + 4 * i_);                                   \
		for (int i_ = 0; any_ && i_ < (n); i_++)                                 \
			((__u64 *)(to))[i_] = digits(four((from) + 4 * i_));             \
	} while (0)

__global int request_ids(struct request_ids *r)
{
	__u8 head[REQUEST_HEAD + 4] = {};
	struct request_proc *p;
	__u32 pid;

	if (!r)
		return 0;
	__builtin_memset(r, 0, sizeof(*r));
	p = process(&pid);
	if (!p || !record_of(p, head))
		return 0;
	WRITE_DIGITS(r->trace, head + REQUEST_TRACE, 4);
	WRITE_DIGITS(r->span, head + REQUEST_SPAN, 2);
	r->flags = head[REQUEST_FLAGS];
	return 0;
}

/* ---- attributes ----------------------------------------------------------- */

struct search {
	struct attributes *in;
	__u32 at, size; /* the next entry; bytes of all entries */
	__u32 key;
	__u32 found, length; /* place of the value; found 0: none yet */
};

/* An entry that is cut ends the list. The last one of a key counts. */
static long look_at(__u32 i, void *data)
{
	struct search *s = data;
	__u32 at = s->at & 1023, length;

	if (s->at + 2 > s->size)
		return 1;
	length = s->in->byte[at + 1 & 1023];
	if (s->at + 2 + length > s->size)
		return 1;
	if (s->in->byte[at] == s->key) {
		s->found = s->at + 2;
		s->length = length;
	}
	s->at += 2 + length;
	return 0;
}

/* The slot is one of the caller's program, whose number it gives. */
__global int request_label(struct request_ask *r, int slot)
{
	__u8 head[REQUEST_HEAD + 4] = {};
	struct request_key key = {};
	struct request_proc *p;
	struct search s = {};
	__u32 index = slot & (SCRATCH_SLOTS - 1), *number, pid, length;
	__u64 record;

	if (!r)
		return 0;
	__builtin_memset(&r->text, 0, sizeof(r->text));
	p = process(&pid);
	key.hash = r->hash;
	key.pid = pid;
	number = p ? bpf_map_lookup_elem(&request_keys, &key) : NULL;
	record = number ? record_of(p, head) : 0;
	s.in = record ? bpf_map_lookup_elem(&request_attributes, &index) : NULL;
	if (!s.in)
		return 0;
	s.key = *number;
	s.size = head[REQUEST_SIZE] | (__u32)head[REQUEST_SIZE + 1] << 8;
	if (s.size > REQUEST_ATTRIBUTES)
		s.size = REQUEST_ATTRIBUTES;
	if (bpf_probe_read_user(s.in, s.size, (const void *)(record + REQUEST_HEAD)))
		return 0;
	bpf_loop(ENTRIES_MAX, look_at, &s, 0);
	if (!s.found)
		return 0;
	length = s.length < REQUEST_TEXT ? s.length : REQUEST_TEXT - 1;
	FORGET(length);
	bpf_probe_read_kernel(r->text.text, length & (REQUEST_TEXT - 1), s.in->byte + (s.found & 1023));
	return 0;
}

__global int request_resource(struct request_ask *r)
{
	struct request_key key = {};
	struct request_text *t;

	if (!r)
		return 0;
	key.hash = r->hash;
	key.pid = bpf_get_current_pid_tgid() >> 32;
	t = bpf_map_lookup_elem(&request_texts, &key);
	if (t)
		r->text = *t;
	else
		__builtin_memset(&r->text, 0, sizeof(r->text));
	return 0;
}
