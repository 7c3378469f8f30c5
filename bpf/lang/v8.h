/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* v8.h - the interface between src/unwinders/v8/v8.c and bpf/lang/v8.bpf.c.
 *
 * V8's code, built in (the embedded builtins) or compiled while the program runs, keeps a chain of frame
 * pointers; the words below each one identify the frame. For each new code position the kernel half sends the
 * function, its name and its file. Userspace at once reads the rest from the process, the line and the inlined
 * functions; a process that has ended by then has no lines. The layout of each version is data from userspace. */
#pragma once
#include "bpf/walk/unwind.h"

/* One process. Map `v8_procs`: HASH, key: u32 tgid. Offsets in bytes; those of the frame
 * are from the frame pointer. */
struct v8_proc {
	__s16 frame_context;  /* context; in a stub's frame its kind, a Smi */
	__s16 frame_function;
	__s16 frame_bytecode; /* BytecodeArray, and the offset in it, if interpreted */
	__s16 frame_offset;
	__u16 map_type;       /* in a Map: the instance type of its objects */
	__u16 function_first, function_last; /* instance types of JSFunction and its subclasses */
	__u16 shared_type, bytecode_type;
	__u16 function_shared; /* in a JSFunction: SharedFunctionInfo */
	__u16 shared_flags;    /* in a SharedFunctionInfo: flags, u32, then its number in the script, u32 */
	__u16 bytecode_first;  /* in a BytecodeArray: the first bytecode */
	__u16 shared_name;     /* in a SharedFunctionInfo: a String, or a ScopeInfo with the name */
	__u16 shared_script, script_name, script_type;
	__u16 scope_type;
	__u16 scope_count;     /* in a ScopeInfo: the number of local variables, a Smi */
	__u16 scope_locals;    /* in a ScopeInfo: the first local variable */
	__u16 entry, construct_entry; /* kinds of frames by which C++ enters */
	__u16 builtin_exit; /* the kind of frame in which a builtin in C++ is called */
	__u16 shared_data;  /* in a SharedFunctionInfo: a builtin's number, or an object */
	__u16 shared_unique; /* in a SharedFunctionInfo, u32: a number never used twice; 0: none */
	__u16 script_id;    /* in a Script, a Smi: a number never used twice */
	__u16 stream_type;  /* instance type of the object that holds compiled code */
	__u32 generation;   /* differs from that of an earlier process with the same pid */
	__u32 builtins_size;
	__s32 isolates;     /* address of V8's count of isolates, u32, counted from epoch; 0: unknown */
	/* arm64, in a frame by which C++ enters: distances from fp to the record, and to the caller's sp */
	__u16 entry_record, entry_size;
	__u16 wasm; /* the kind of a WebAssembly function's frame; 0: none */
	__u16 opaque; /* this V8's objects are unknown: a function's frame is V8_OPAQUE */
	/* In a Code, u32: its kind, by mask; kinds from code_first to code_last are optimised. The Code is the
	 * object that holds compiled code or, with code_apart, the field after that object's map. mask 0: unknown */
	__u16 code_flags, code_mask, code_first, code_last, code_apart;
	/* Kinds of the frames of compiled wrappers between JavaScript and WebAssembly; 0: none */
	__u16 to_wasm, from_wasm;
	/* A page of V8's heap has its flags, u32, at the offset page_flags. page_marking: the flags that are set while
	 * V8 marks living objects; 0: unknown */
	__u16 page_flags, page_marking;
	__u16 pad[3];
	__u64 builtins;     /* the embedded builtins: ELF vaddr */
	__u64 epoch;        /* address of V8's count of garbage collections, u32; 0: unknown */
};
ABI_SIZE(v8_proc, 112);

/* Map `v8_files`: HASH, key: u32 file, value struct v8_proc with the file's own addresses. When a walk finds
 * the file in a process that userspace has not published, the kernel half puts that process in v8_procs; its
 * `generation` then has LANG_BY_KERNEL. */

/* The beginning of a string. */
#define V8_TEXT_MAX 160
struct v8_text {
	__u16 size; /* bytes; 0: no string, or not readable */
	__u16 wide; /* 1: UTF-16, 0: Latin-1 */
	__u32 pad;
	__u8 chars[V8_TEXT_MAX];
};
ABI_SIZE(v8_text, 8 + V8_TEXT_MAX);

/* With this many variables, a ScopeInfo may have a hash table instead of their names: seen in V8 10.2, not
 * yet in 9.6. The table is in the place of the first name. */
#define V8_SCOPE_HASHED 75

/* RULE_LANG's offset in code whose frame is known to exist. */
#define V8_FRAME 16

/* Frames: code id << 20 | offset in the function's bytecode; id odd. */
#define FRAME_JS(code, offset) \
	FRAME_OF(FRAME_LANG_JS, (__u64)(code) << 24 >> 4 | ((offset) & 0xfffff))

/* A frame of WebAssembly and a frame of JavaScript whose functions are unknown; wrappers for calls from JavaScript to
 * WebAssembly, and back. */
#define V8_WASM      FRAME_JS(0, 0)
#define V8_OPAQUE    FRAME_JS(0, 1)
#define V8_TO_WASM   FRAME_JS(0, 2)
#define V8_FROM_WASM FRAME_JS(0, 3)

/* Most bits of an object's address: x86_64 gives out 47, arm64 48, and more only on request. */
#define V8_ADDRESS_BITS 48

/* Record of a code position in JavaScript, sent before any stack that shows it. */
struct v8_record {
	struct lang_record head;
	__u64 frame;    /* FRAME_JS() */
	__u64 shared;   /* SharedFunctionInfo, or the instance of WebAssembly's code; with V8's tag */
	__u64 bytecode; /* BytecodeArray, with V8's tag; 0: the frame has none */
	__u64 pc;       /* the address looked up in compiled code; 0: interpreted */
	/* Proof that shared is still the same object: its flags and its number in the script, and its own
	 * number (shared_unique), else its script's (script_id). */
	__u64 flags, unique;
	__u32 compiled; /* pc is in code that V8 compiled, not built in */
	__u32 wasm;     /* pc is in WebAssembly's code: no flags, unique, name and file */
	struct v8_text name, file;
};
ABI_SIZE(v8_record, 80 + 2 * (8 + V8_TEXT_MAX));
