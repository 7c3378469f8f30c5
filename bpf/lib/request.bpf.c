// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* request.bpf.c - reads the request of the current thread: see request.h. Linked only if it is used.
 *
 * Each thread writes its own record. It does not run while the program handles its event, so the record does not
 * change meanwhile. */
#include "request.h"

#include "kernel.bpf.h"
#include "who.bpf.h"

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

/* Memory of a question, by CPU and slot, since programs interrupt each other. A value is copied from any index of the
 * attributes below 1024. */
struct request_memory {
	__u8 attributes[1024 + REQUEST_TEXT];
	__u64 name[REQUEST_NAME / 8]; /* a label's key in the process */
	struct request_ask ask;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct request_memory);
} request_memories SEC(".maps");

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
	/* The dynamic linker has not filled in the word yet: nothing lies at the thread pointer itself. */
	if (!pair[0] && v->kind != TLS_PAIR)
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

/* ---- Node ------------------------------------------------------------------- */

/* The variable of Node's threads, and Node's objects: V8 12.4 to 14.6 (Node 22 to 26). An AsyncLocalStorage is a key of
 * the JavaScript Map that is the "continuation-preserved embedder data" of V8. */
struct node_context {
	__u64 slot;      /* address of that Map's tagged pointer; 0: none */
	__u64 key;       /* address of the tagged pointer to the AsyncLocalStorage */
	__u32 hash, pad; /* its identity hash */
	__u64 undefined; /* V8's undefined */
};
#define NODE_TAG    1
#define MAP_TABLE   24 /* JSMap.table */
#define TABLE_START 16 /* OrderedHashMap: elements, deleted elements, buckets; then the buckets, then entries */
#define HOPS_MAX    16

struct node_entry {
	__u64 key, value, chain;
};

struct node_search {
	__u64 entries, key, value;
	__s32 next; /* number of the entry; negative: the end */
};

static long look_at_entry(__u32 i, void *data)
{
	struct node_search *s = data;
	struct node_entry e;

	if (s->next < 0 || bpf_probe_read_user(&e, sizeof(e), (const void *)(s->entries + 24 * (__u64)s->next)))
		return 1;
	if (e.key == s->key) {
		s->value = e.value;
		return 1;
	}
	s->next = (__s32)(e.chain >> 32);
	return 0;
}

static __always_inline __u64 node_record(const struct request_proc *p)
{
	__u64 at = variable(p, &p->variable[REQUEST_NODE]), map = 0, table = 0, buckets = 0, first = 0, record = 0;
	struct node_search s = {};
	struct node_context c;

	if (!at || bpf_probe_read_user(&c, sizeof(c), (const void *)at) || !c.slot || read_word(c.slot, &map) ||
		map == c.undefined || read_word(c.key, &s.key))
		return 0;
	if (read_word(map - NODE_TAG + MAP_TABLE, &table))
		return 0;
	table += TABLE_START - NODE_TAG;
	if (read_word(table + 16, &buckets))
		return 0;
	buckets >>= 32; /* a Smi: a power of 2 */
	if (!buckets || buckets & (buckets - 1) || buckets > 1 << 24 ||
		read_word(table + 24 + 8 * (c.hash & (buckets - 1)), &first))
		return 0;
	s.next = (__s32)(first >> 32);
	s.entries = table + 24 + 8 * buckets;
	bpf_loop(HOPS_MAX, look_at_entry, &s, 0);
	if (!s.value || s.value == c.undefined || read_word(s.value - NODE_TAG + p->node_record, &record))
		return 0;
	return record;
}

/* ---- the record ------------------------------------------------------------- */

/* Reads the head of the thread's record. Returns its address, or 0 if it has none. */
static __always_inline __u64 record_of(const struct request_proc *p, __u8 head[REQUEST_HEAD])
{
	__u64 at = variable(p, &p->variable[REQUEST_RECORD]), record = 0;

	if (at && read_word(at, &record))
		return 0;
	if (!record)
		record = node_record(p);
	if (!record)
		return 0;
	if (bpf_probe_read_user(head, REQUEST_HEAD, (const void *)record) || head[REQUEST_VALID] != 1)
		return 0;
	return record;
}

static __always_inline struct request_proc *process(__u32 *ret_pid)
{
	*ret_pid = current_ids() >> 32; /* in strata's PID namespace */
	return *ret_pid ? bpf_map_lookup_elem(&request_procs, ret_pid) : NULL;
}

static __always_inline struct request_memory *memory_of(int slot)
{
	__u32 index = slot & (SCRATCH_SLOTS - 1);

	return bpf_map_lookup_elem(&request_memories, &index);
}

/* ---- attributes of a record -------------------------------------------------- */

struct search {
	struct request_memory *in;
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
	length = s->in->attributes[at + 1 & 1023];
	if (s->at + 2 + length > s->size)
		return 1;
	if (s->in->attributes[at] == s->key) {
		s->found = s->at + 2;
		s->length = length;
	}
	s->at += 2 + length;
	return 0;
}

/* Returns whether the record has the attribute. */
static __always_inline int by_record(struct request_memory *m, const struct request_proc *p, struct request_ask *r)
{
	__u32 pid = current_ids() >> 32;
	struct request_key key = {.hash = r->hash, .pid = pid};
	__u8 head[REQUEST_HEAD + 4] = {};
	struct search s = {.in = m};
	__u32 *number = bpf_map_lookup_elem(&request_keys, &key), length;
	__u64 record = number ? record_of(p, head) : 0;

	if (!record)
		return 0;
	s.key = *number;
	s.size = head[REQUEST_SIZE] | (__u32)head[REQUEST_SIZE + 1] << 8;
	if (s.size > REQUEST_ATTRIBUTES)
		s.size = REQUEST_ATTRIBUTES;
	if (bpf_probe_read_user(m->attributes, s.size, (const void *)(record + REQUEST_HEAD)))
		return 0;
	bpf_loop(ENTRIES_MAX, look_at, &s, 0);
	if (!s.found)
		return 0;
	length = s.length < REQUEST_TEXT ? s.length : REQUEST_TEXT - 1;
	FORGET(length);
	bpf_probe_read_kernel(r->text.text, length & (REQUEST_TEXT - 1), m->attributes + (s.found & 1023));
	return 1;
}

/* ---- labels: pairs of strings -------------------------------------------------- */

struct string {
	__u64 at, size;
};

/* Copies the value if the key is the wanted one. Returns whether it is. */
static __always_inline int take_if(struct request_memory *m, struct request_ask *r, struct string key,
	struct string value)
{
	__u64 differ = 0, size = value.size < REQUEST_TEXT ? value.size : REQUEST_TEXT - 1;

	if (key.size != r->size || !r->size || r->size >= REQUEST_NAME)
		return 0;
	__builtin_memset(m->name, 0, sizeof(m->name));
	if (bpf_probe_read_user(m->name, key.size & (REQUEST_NAME - 1), (const void *)key.at))
		return 0;
	for (int i = 0; i < REQUEST_NAME / 8; i++)
		differ |= m->name[i] ^ r->name[i];
	if (differ)
		return 0;
	FORGET(size);
	bpf_probe_read_user(r->text.text, size & (REQUEST_TEXT - 1), (const void *)value.at);
	return 1;
}

#define LABELS_MAX  64
#define BUCKETS_MAX 512
#define BUCKET_KEYS 8

/* What is left of a list of labels, or of Go's map of them. */
struct labels_left {
	struct request_memory *m;
	struct request_ask *r;
	__u64 at;              /* the next label, or bucket */
	__u64 chain;           /* map: the next bucket of this hash; 0: none */
	__u64 left;            /* labels or buckets */
	__u64 old, old_left;   /* map: the buckets from before it grew, which are not moved if nobody writes to it */
	__u32 size_first;      /* a string is {size, address}, not {address, size} */
	__u32 found;
};

static __always_inline struct string string_of(const __u64 words[2], int size_first)
{
	return size_first ? (struct string){words[1], words[0]} : (struct string){words[0], words[1]};
}

static long look_at_label(__u32 i, void *data)
{
	struct labels_left *l = data;
	__u64 words[4];

	if (!l->left || bpf_probe_read_user(words, sizeof(words), (const void *)l->at))
		return 1;
	l->left--;
	l->at += sizeof(words);
	if (!(l->size_first ? words[1] : words[0]))
		return 0;
	l->found = take_if(l->m, l->r, string_of(words, l->size_first), string_of(words + 2, l->size_first));
	return l->found;
}

/* The first label with the key counts. */
static __always_inline int by_list(struct request_memory *m, struct request_ask *r, __u64 list, __u64 n,
	int size_first)
{
	struct labels_left l = {.m = m, .r = r, .at = list, .size_first = size_first};

	l.left = n < LABELS_MAX ? n : LABELS_MAX;
	bpf_loop(LABELS_MAX, look_at_label, &l, 0);
	return l.found;
}

/* The vector of github.com/polarsignals/custom-labels, version 1. */
struct labels {
	__u64 list, n, capacity;
};

static __always_inline int by_labels(struct request_memory *m, const struct request_proc *p, struct request_ask *r)
{
	__u64 at = variable(p, &p->variable[REQUEST_LABELS]), set = 0;
	struct labels labels;

	if (!at || read_word(at, &set) || !set || bpf_probe_read_user(&labels, sizeof(labels), (const void *)set))
		return 0;
	return by_list(m, r, labels.list, labels.n, 1);
}

/* ---- Go ------------------------------------------------------------------------ */

#define G_M          48  /* runtime.g.m: runtime/runtime2.go, Go 1.17 to 1.27 */
#define MAP_FLAGS    8   /* runtime.hmap: runtime/map.go, up to Go 1.23; B is the next byte */
#define MAP_SAME_SIZE 8  /* sameSizeGrow */
#define MAP_BUCKETS  16
#define BUCKET_VALUES   136
#define BUCKET_OVERFLOW 264
#define HASH_USED    5   /* runtime.minTopHash: lower values mark free and moved keys */

static __always_inline __u64 go_labels(const struct request_go *go)
{
	__u64 tp = thread_pointer(), g = 0, m = 0, labels = 0;

#ifdef __TARGET_ARCH_arm64
	if (!go->tls || !tp) /* a program without C has no thread pointer */
		bpf_probe_read_kernel(&g, 8, (void *)(bpf_task_pt_regs(bpf_get_current_task_btf()) + 28 * 8));
#endif
	if (go->tls && tp && read_word(tp + (__u64)(__s64)go->tls, &g))
		return 0;
	if (!g || read_word(g + G_M, &m) || !m || read_word(m + go->curg, &g) || !g)
		return 0;
	read_word(g + go->labels, &labels);
	return labels;
}

/* Looks at one bucket. A bucket has 8 tags, keys and values. */
static long look_at_bucket(__u32 i, void *data)
{
	struct labels_left *l = data;
	__u64 bucket = l->chain, words[4];
	__u8 used[BUCKET_KEYS];

	if (!bucket && !l->left) {
		l->at = l->old;
		l->left = l->old_left;
		l->old_left = 0;
	}
	if (!bucket) {
		if (!l->left)
			return 1;
		bucket = l->at;
		l->at += BUCKET_OVERFLOW + 8;
		l->left--;
	}
	l->chain = 0;
	/* A bucket that is not in memory was never written, so it is empty. */
	if (bpf_probe_read_user(used, sizeof(used), (const void *)bucket))
		return 0;
	for (int k = 0; k < BUCKET_KEYS; k++) {
		if (used[k] < HASH_USED)
			continue;
		if (bpf_probe_read_user(words, 16, (const void *)(bucket + 8 + 16 * k)) || words[1] != l->r->size ||
			bpf_probe_read_user(words + 2, 16, (const void *)(bucket + BUCKET_VALUES + 16 * k)))
			continue;
		if (take_if(l->m, l->r, string_of(words, 0), string_of(words + 2, 0))) {
			l->found = 1;
			return 1;
		}
	}
	read_word(bucket + BUCKET_OVERFLOW, &l->chain);
	return 0;
}

static __always_inline int by_map(struct request_memory *m, struct request_ask *r, __u64 map)
{
	struct labels_left l = {.m = m, .r = r};
	__u64 buckets[2] = {};
	__u8 head[2] = {}, b; /* flags, B */

	if (bpf_probe_read_user(head, sizeof(head), (const void *)(map + MAP_FLAGS)))
		return 0;
	b = head[1];
	if (b > 8 ||
		bpf_probe_read_user(buckets, sizeof(buckets), (const void *)(map + MAP_BUCKETS)))
		return 0;
	l.at = buckets[0];
	l.left = 1ULL << (b & 15);
	l.old = buckets[1];
	if (buckets[1] && head[0] & MAP_SAME_SIZE)
		l.old_left = 1ULL << (b & 15);
	else
		l.old_left = buckets[1] && b ? 1ULL << (b - 1 & 15) : 0;
	bpf_loop(BUCKETS_MAX, look_at_bucket, &l, 0);
	return l.found;
}

static __always_inline int by_go(struct request_memory *m, const struct request_proc *p, struct request_ask *r)
{
	__u64 map = 0, slice[2], labels = p->go.curg ? go_labels(&p->go) : 0;

	if (!labels)
		return 0;
	if (p->go.is_map)
		return !read_word(labels, &map) && map ? by_map(m, r, map) : 0;
	if (bpf_probe_read_user(slice, sizeof(slice), (const void *)labels))
		return 0;
	return by_list(m, r, slice[0], slice[1], 0);
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

__global int request_named(struct request_ask *r, int slot)
{
	struct request_memory *m = memory_of(slot);
	__u32 pid;
	struct request_proc *p = process(&pid);

	if (!r || !m || !p)
		return 0;
	return by_go(m, p, r) || by_labels(m, p, r);
}

/* Labels in use, with hex digits: Grafana's trace_id and span_id, Polar Signals' otel.traceid and otel.spanid.
 *
 * Copies the label's value if it has n digits. Returns whether it has. */
static __always_inline int digits_of(const char name[16], __u32 size, int slot, char *to, __u32 n)
{
	struct request_memory *m = memory_of(slot);

	if (!m)
		return 0;
	__builtin_memset(&m->ask, 0, sizeof(m->ask));
	__builtin_memcpy(m->ask.name, name, 16);
	m->ask.size = size;
	if (!request_named(&m->ask, slot) || m->ask.text.text[n] || !m->ask.text.text[n - 1])
		return 0;
	__builtin_memcpy(to, m->ask.text.text, n);
	return 1;
}

/* Takes the ids from the record of the thread. Returns whether labels may have them: there is no record. Functions of
 * records and of labels do not call each other: with the probe, they need more than the 512 bytes of Linux 6.1. */
__global int request_no_record(struct request_ids *r)
{
	__u8 head[REQUEST_HEAD + 4] = {};
	struct request_proc *p;
	__u32 pid;

	if (!r)
		return 0;
	p = process(&pid);
	if (!p)
		return 0;
	if (!record_of(p, head))
		return p->go.curg || p->variable[REQUEST_LABELS].kind != TLS_NONE;
	WRITE_DIGITS(r->trace, head + REQUEST_TRACE, 4);
	WRITE_DIGITS(r->span, head + REQUEST_SPAN, 2);
	r->flags = head[REQUEST_FLAGS];
	return 0;
}

__global int request_ids(struct request_ids *r, int slot)
{
	if (!r)
		return 0;
	__builtin_memset(r, 0, sizeof(*r));
	if (!request_no_record(r))
		return 0;
	if (!digits_of("trace_id\0\0\0\0\0\0\0", 8, slot, r->trace, 32))
		digits_of("otel.traceid\0\0\0", 12, slot, r->trace, 32);
	if (!digits_of("span_id\0\0\0\0\0\0\0\0", 7, slot, r->span, 16))
		digits_of("otel.spanid\0\0\0\0", 11, slot, r->span, 16);
	return 0;
}

/* The slot is one of the caller's program, whose number it gives. */
/* Looks for a label in the record of the thread. Returns 1 if there is a record. */
__global int request_recorded(struct request_ask *r, int slot)
{
	struct request_memory *m = memory_of(slot);
	struct request_proc *p;
	__u32 pid;

	if (!r)
		return 0;
	p = process(&pid);
	return m && p && by_record(m, p, r);
}

__global int request_label(struct request_ask *r, int slot)
{
	if (!r)
		return 0;
	__builtin_memset(&r->text, 0, sizeof(r->text));
	if (!request_recorded(r, slot))
		request_named(r, slot);
	return 0;
}

__global int request_resource(struct request_ask *r)
{
	struct request_key key = {};
	struct request_text *t;

	if (!r)
		return 0;
	key.hash = r->hash;
	key.pid = current_ids() >> 32;
	t = key.pid ? bpf_map_lookup_elem(&request_texts, &key) : NULL;
	if (t)
		r->text = *t;
	else
		__builtin_memset(&r->text, 0, sizeof(r->text));
	return 0;
}
