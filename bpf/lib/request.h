/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* request.h - the request that a thread works on, as its program says: for both sides.
 *
 * Sources: OpenTelemetry specification, OTEP 4947 (thread context, merged 2026-07-17) and OTEP 4719 (process context,
 * merged 2026-04-07). All of it is written by the traced program, so it is untrusted. */
#pragma once
#include "types.h"

/* The place of a thread-local variable: ELF Handling For Thread-Local Storage; glibc 2.36 to 2.43, musl 1.2.3. */
enum tls_kind {
	TLS_NONE,
	TLS_OFFSET, /* at: its offset from the thread pointer */
	TLS_SLOT,   /* at: address of a word with this offset */
	TLS_PAIR,   /* at: address of a pair: the module's number, and the offset in its block */
	TLS_MODULE, /* at: address of the module's number; the offset in its block is in `add` */
	TLS_DESC,   /* at: address of a TLS descriptor: a function and its argument */
};
struct tls_place {
	__u64 at;
	__s32 add;  /* bytes added to the address, or to the offset in a block */
	__u32 kind; /* enum tls_kind */
};
ABI_SIZE(tls_place, 16);

/* Thread-local variables that lead to a thread's request. */
enum request_variable {
	REQUEST_RECORD, /* otel_thread_ctx_v1: pointer to a record, or NULL */
	REQUEST_NODE,   /* otel_thread_ctx_nodejs_v1: the way to the record of Node's asynchronous context. See struct
	                 * node_context in request.bpf.c */
	REQUEST_LABELS, /* custom_labels_current_set: pointer to a struct labels of request.bpf.c, or NULL */
	REQUEST_VARIABLES
};

/* Go's labels: of runtime/pprof, Go 1.17 to 1.27. */
struct request_go {
	__s32 tls;    /* g, bytes from the thread pointer; 0 on arm64: g is in x28 */
	__u16 curg;   /* offset in struct m; 0: the process has no Go */
	__u16 labels; /* offset in struct g */
	__u32 is_map; /* labels is a map (up to 1.23), not a slice */
	__u32 pad;
};
ABI_SIZE(request_go, 16);

/* One process. Map `request_procs`: HASH, key: u32 tgid. */
struct request_proc {
	struct tls_place variable[REQUEST_VARIABLES];
	struct request_go go;
	__s32 dtv;          /* the vector of modules' blocks, bytes from the thread pointer */
	__u32 is_musl;      /* an entry of the vector has 8 bytes, not 16 */
	__u32 node_record;  /* Node: offset of the record's address in its object */
	__u32 pad;
};
ABI_SIZE(request_proc, 80);

/* The record of OTEP 4947. Attributes follow: u8 key, u8 length, bytes. */
#define REQUEST_HEAD       28
#define REQUEST_TRACE      0  /* 16 bytes; all zero: none */
#define REQUEST_SPAN       16 /* 8 bytes */
#define REQUEST_VALID      24 /* u8: 1, or there is no record */
#define REQUEST_FLAGS      25 /* u8: W3C trace flags */
#define REQUEST_SIZE       26 /* u16: bytes of attributes */
#define REQUEST_ATTRIBUTES 612 /* the most that are read: a record has at most 640 bytes */

/* Answer of request_ids(): texts in lower-case hex digits, or empty. */
struct request_ids {
	char trace[40]; /* 32 digits */
	char span[24];  /* 16 digits */
	__u64 flags;
};
ABI_SIZE(request_ids, 72);

/* Names of attributes are known by a hash: 64 bits of FNV-1a. */
#define REQUEST_HASH_SEED 0xcbf29ce484222325ULL
#define REQUEST_HASH(h, byte) (((h) ^ (__u64)(byte)) * 0x100000001b3ULL)

#define REQUEST_TEXT 128 /* bytes of a value, with its NUL; longer values are cut */
#define REQUEST_NAME 64  /* bytes of a label's key, with its NUL */

/* Key of the maps `request_keys` (HASH; value: u32 number of the key in records) and `request_texts` (HASH; value:
 * struct request_text, a resource attribute). */
struct request_key {
	__u64 hash;
	__u32 pid; /* tgid */
	__u32 pad;
};
ABI_SIZE(request_key, 16);

struct request_text {
	char text[REQUEST_TEXT];
};
ABI_SIZE(request_text, 128);

/* Question to request_label() and request_resource(). */
struct request_ask {
	__u64 hash;  /* in: of the attribute's name */
	__u64 size;  /* in: bytes of the name; 0 for request_resource() */
	__u64 name[REQUEST_NAME / 8]; /* in, followed by zeros */
	struct request_text text; /* out: the value, or "" */
};
ABI_SIZE(request_ask, 208);
