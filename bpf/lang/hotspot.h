/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotspot.h - the interface between src/unwinders/hotspot/ and bpf/lang/hotspot.bpf.c.
 *
 * Java's interpreted and compiled methods have native frames, one to one, in the code cache: anonymous memory that
 * HotSpot divides into blobs. The blob of a pc gives the size of the frame, and the method; an interpreted frame has
 * its Method and its position. For each new code position the kernel half sends the names of the method, its class
 * and its file. Userspace at once reads the rest from the process: the line, and inlined methods.
 *
 * The layout of each version is data from userspace, which reads it from tables in the process (gHotSpotVMStructs). */
#pragma once
#include "bpf/walk/unwind.h"

/* One process. Map `hotspot_procs`: HASH, key: u32 tgid. Offsets in bytes. */
struct hotspot_proc {
	__u64 heaps;       /* address of CodeCache's variable: GrowableArray of CodeHeap *, or the only CodeHeap * */
	__u16 one_heap;    /* JDK 8: heaps has the only heap */
	__u16 array_len, array_data;
	__u16 heap_low, heap_high, heap_segmap, heap_shift; /* in a CodeHeap */
	__u16 block_size;  /* of HeapBlock, which comes before a blob */
	/* in a CodeBlob */
	__u16 blob_name, blob_frame_size, blob_complete, blob_code;
	__u16 complete_bytes; /* size of blob_complete: 2 or 4 */
	__u16 code_is_offset; /* blob_code has a u32, the distance from the blob; else an address */
	/* in an nmethod */
	__u16 method, compile_id, orig_pc, deopt, deopt_mh; /* deopt_mh 0: none */
	__u16 deopt_is_offset; /* as code_is_offset */
	/* in Method, ConstMethod, ConstantPool, Klass, Symbol */
	__u16 method_const;
	__u16 const_pool, const_code_size, const_name, const_size;
	__u16 pool_size, pool_holder, pool_file; /* pool_file 0: the class has it */
	__u16 klass_name, klass_file;
	__u16 symbol_length, symbol_body; /* length: u16 */
	__s16 frame_bcp;   /* in an interpreted frame, from the frame pointer */
	__u16 arm64;
	__u16 pad[2];
	__u32 generation;  /* differs from that of an earlier process with the same pid */
	__u32 layout;      /* userspace's number of its layout */
};
ABI_SIZE(hotspot_proc, 88);

/* Kinds of frames. */
enum hotspot_kind {
	HOTSPOT_NONE,         /* not in the code cache */
	HOTSPOT_INTERPRETED,
	HOTSPOT_COMPILED,
	HOTSPOT_NATIVE,       /* the wrapper of a compiled native method */
	HOTSPOT_STUB,         /* HotSpot's own code; by name */
	HOTSPOT_CONTINUATION, /* the rest of a virtual thread's frames is in the heap */
};

/* A name, in modified UTF-8. */
#define HOTSPOT_TEXT_MAX 160
struct hotspot_text {
	__u16 size; /* bytes; 0: not readable */
	__u16 full; /* bytes of the whole name */
	__u32 pad;
	__u8 chars[HOTSPOT_TEXT_MAX];
};
ABI_SIZE(hotspot_text, 8 + HOTSPOT_TEXT_MAX);

#define FRAME_JAVA(id) FRAME_OF(FRAME_LANG_JAVA, id)

/* Record of a code position, sent before any stack that shows it. */
struct hotspot_record {
	struct lang_record head;
	__u64 frame;      /* FRAME_JAVA() */
	__u64 method;     /* Method *; 0: a stub */
	__u64 constant;   /* its ConstMethod */
	__u64 blob;       /* CodeBlob of compiled code and stubs; 0: interpreted */
	__u64 pc;         /* compiled: the address looked up, plus 1 */
	__u32 compile_id; /* proof that blob is still the same */
	__u32 bci;        /* interpreted: the position in the bytecode */
	__u32 kind;       /* enum hotspot_kind */
	__u32 exact;      /* compiled: pc - 1 was interrupted there; else it is a return address */
	struct hotspot_text klass, name, file; /* a stub: only name */
};
ABI_SIZE(hotspot_record, 80 + 3 * (8 + HOTSPOT_TEXT_MAX));
