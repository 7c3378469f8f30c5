/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* v8.h - the treaty between src/unwinders/v8/v8.c and bpf/lang/v8.bpf.c.
 *
 * V8's code, built in (the embedded builtins) or compiled as the program runs, keeps a
 * chain of frame pointers; the words below each say whose frame it is. The kernel half
 * sends, for each code position that it sees first, which function it is in, and its
 * name and file; userspace reads the rest, the line and what was inlined, from the process,
 * at once: of a process that has gone by then there are no lines. Where things lie in a
 * version is data, filled in by userspace. */
#pragma once
#include "bpf/walk/unwind.h"

/* One process. Map `v8_procs`: HASH, key: u32 tgid. Offsets in bytes; the frame's are from
 * the frame pointer. */
struct v8_proc {
	__s16 frame_context;  /* or, as a Smi, what kind of a stub's frame it is */
	__s16 frame_function;
	__s16 frame_bytecode; /* BytecodeArray, and where in it, when it is interpreted */
	__s16 frame_offset;
	__u16 map_type;       /* in a Map: the instance type of its objects */
	__u16 function_first, function_last; /* instance types of JSFunction and its like */
	__u16 shared_type, bytecode_type;
	__u16 function_shared; /* in a JSFunction: SharedFunctionInfo */
	__u16 shared_flags;    /* in that, u32; then a number that differs from others', u32 */
	__u16 bytecode_first;  /* in a BytecodeArray: the first bytecode */
	__u16 shared_name;     /* a String, or a ScopeInfo that has one */
	__u16 shared_script, script_name, script_type;
	__u16 scope_type;
	__u16 scope_count;     /* in a ScopeInfo: how many local variables, a Smi */
	__u16 scope_locals;    /* ..and where the first is */
	__u16 entry, construct_entry; /* kinds of frames that C++ enters by */
	__u16 builtin_exit; /* the kind of frame by which a builtin in C++ is called */
	__u16 shared_data;  /* in a SharedFunctionInfo: the number of a builtin, or an object */
	__u16 shared_unique; /* in that, u32: no other one ever has it; 0: there is none */
	__u16 script_id;    /* in a Script, a Smi: likewise */
	__u16 stream_type;  /* of what compiled code lies in */
	__u32 generation;   /* differs from that of a process which had its number before */
	__u32 builtins_size;
	/* arm64, of a frame that C++ enters by: from fp to the record, and to the caller's sp */
	__u16 entry_record, entry_size;
	__u16 wasm; /* the kind of a function's frame that is WebAssembly's; 0: there are none */
	__u16 opaque; /* nothing is known of its objects: a function's frame is V8_OPAQUE */
	/* In a Code, u32, by mask: what kind it is; optimised from one to another. The Code is what
	 * compiled code lies in, or the field behind that one's map. mask 0: not known */
	__u16 code_flags, code_mask, code_first, code_last, code_apart;
	__u16 pad;
	__u64 builtins;     /* the embedded builtins: ELF vaddr */
	__u64 epoch;        /* address of V8's count of collections of garbage, u64; 0: not known */
};
ABI_SIZE(v8_proc, 96);

/* Map `v8_files`: HASH, key: u32 file, value struct v8_proc: the same with the file's own
 * addresses. A process that userspace has not published is put in v8_procs by the kernel half
 * when a walk finds the file; `generation` then has
 * LANG_BY_KERNEL. */

/* A string's beginning. */
#define V8_TEXT_MAX 160
struct v8_text {
	__u16 size; /* bytes; 0: there is none, or it could not be read */
	__u16 wide; /* UTF-16, else Latin-1 */
	__u32 pad;
	__u8 chars[V8_TEXT_MAX];
};
ABI_SIZE(v8_text, 8 + V8_TEXT_MAX);

/* From this many on, a table may stand for the names of a ScopeInfo's variables: seen in V8 10.2,
 * not yet in 9.6. It lies where the first name would be. */
#define V8_SCOPE_HASHED 75

/* RULE_LANG's offset where the frame is known to be there. */
#define V8_FRAME 16

/* Frames: code id << 20 | offset in the function's bytecode; id odd. */
#define FRAME_JS(code, offset) \
	FRAME_OF(FRAME_LANG_JS, (__u64)(code) << 24 >> 4 | ((offset) & 0xfffff))

/* A frame of WebAssembly, one of JavaScript whose function is not known. */
#define V8_WASM   FRAME_JS(0, 0)
#define V8_OPAQUE FRAME_JS(0, 1)

/* No address of an object has more bits: x86_64 gives out 47, arm64 48, and more only to who asks. */
#define V8_ADDRESS_BITS 48

/* First sight of a code position in JavaScript, sent before any stack that shows it. */
struct v8_record {
	struct lang_record head;
	__u64 frame;    /* FRAME_JS() */
	__u64 shared;   /* SharedFunctionInfo, as V8 keeps it: with its tag */
	__u64 bytecode; /* BytecodeArray, likewise; 0: none is in the frame */
	__u64 pc;       /* of compiled code, as it is looked up; 0: it is interpreted */
	/* That shared still is what it was: its flags and number in the script, and its own number
	 * (shared_unique), else its script's (script_id). */
	__u64 flags, unique;
	__u32 compiled; /* pc is in what V8 compiled, not built in */
	__u32 pad;
	struct v8_text name, file;
};
ABI_SIZE(v8_record, 80 + 2 * (8 + V8_TEXT_MAX));
