/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* python.h - the interface between src/unwinders/python/python.c and bpf/lang/python.bpf.c.
 *
 * CPython keeps its frames in its own list, from a thread state to the first frame. One activation of the eval
 * loop in C runs one or several of them; the native walk asks for the frames of an activation when it reaches
 * the eval loop. The layout of each version is data from userspace: the kernel half tests no versions. */
#pragma once
#include "bpf/walk/unwind.h"

/* Formats of line tables. */
enum python_lines {
	PYTHON_LNOTAB,    /* up to 3.9: pairs of a code delta and a line delta */
	PYTHON_LINETABLE, /* 3.10: ranges */
	PYTHON_LOCATIONS, /* from 3.11 on: with columns */
};

/* Offsets in bytes within CPython's objects. */
struct python_layout {
	/* thread state -> (cframe ->) current frame */
	__u16 tstate_thread_id;
	__u16 tstate_cframe;   /* 0: current_frame is in the thread state itself */
	__u16 current_frame;   /* offset in the cframe, or in the thread state */
	/* _PyRuntime's interpreters; interpreter -> next, its thread states; each -> next, its interpreter
	 * (0: unknown, then the walk looks for no other interpreter) */
	__u16 interp_next, interp_threads, tstate_next, tstate_interp;
	__u16 tstate_entry;    /* a pointer into the newest eval loop's C frame; 0: boundary frames are in C
	                        * frames, or nothing is */

	/* interpreter frame (<= 3.10: frame object) */
	__u16 frame_code;
	__u16 frame_previous;
	__u16 frame_instr;
	__u16 frame_boundary;  /* a byte: at boundary_min or above, the activation ends */
	__u8 boundary_min;     /* 0: each frame is an activation */
	__u8 boundary_shown;   /* the boundary frame is Python's own, not a stand-in for C */
	__u8 code_tag;         /* low bits of the code pointer that are not part of the address */
	__u8 instr_is_index;   /* frame_instr is an int, not a pointer into the code */
	__u8 instr_shift;      /* shift from bytes to code units */
	__u8 cookie_words;     /* number of words of the code object that never change */
	__u16 cookie;          /* the first of them; cookie_head and firstlineno never change either */
	__u16 cookie_head;
	__u16 frame_tlbc;      /* free-threaded: the thread whose copy of the bytecode runs; else 0 */

	/* code object */
	__u16 code_firstlineno, code_argcount, code_flags;
	__u16 code_filename, code_name, code_linetable;
	__u16 code_code;       /* the bytecode, if inline */
	__u16 code_tlbc;       /* array of bytecode copies, indexed by frame_tlbc */
	__u8 code_size, str_size; /* bytes to read of a code object, of a str and of a bytes */
	__u16 name_hash;       /* hash in the name's object, if the cookie needs it; else 0 */

	/* str and bytes */
	__u16 str_length, str_state, str_ascii, str_data;
	__u16 bytes_size, bytes_data;

	/* pthread_getspecific(), as offsets from the thread pointer: keys below tsd_inline are there, others
	 * in blocks of 1 << tsd_block_shift */
	__s16 tsd_first, tsd_blocks;
	__u16 tsd_inline;
	__u8 tsd_block_shift;
	__u8 tsd_entry_shift;  /* size of an entry, as a shift */
	__u8 tsd_value;        /* the value within an entry */
	__u8 has_tsd;
	__u8 tss_bare;         /* tss_key is only the key: 3.6 */
	__s8 dtv;              /* the vector of modules' blocks, from the thread pointer */
	__u8 dtv_shift;        /* size of its entry, as a shift */
	__u8 ob_type;          /* offset of the type in any object */
	__u8 str_kind_shift;   /* in str_state: 3 bits of kind, compact, ascii */
	__u8 lines;            /* enum python_lines */
	__u8 cframe_previous;  /* in the cframe: the cframe of the previous eval loop */
	__u16 version;         /* 0x030b: 3.11 */
	__u16 interp_version;  /* interpreter, from 3.13 on: func_state.next_version, the number (u32) of the next
	                        * code object; 0: unknown */
	__u8 pad[6];
};
ABI_SIZE(python_layout, 96);

/* The place of a thread-local pointer. */
enum python_tls_kind {
	PYTHON_TLS_NONE,
	PYTHON_TLS_OFFSET, /* at: its offset from the thread pointer (local exec) */
	PYTHON_TLS_SLOT,   /* at: address of a word with this offset (initial exec) */
	PYTHON_TLS_PAIR,   /* at: address of a pair: the module's number and the offset in its block (general and
	                    * local dynamic) */
	PYTHON_TLS_DESC,   /* at: address of a TLS descriptor: a function and its argument */
};
struct python_tls {
	__u64 at;
	__s32 add;  /* added to the address found by `at` */
	__u32 kind; /* enum python_tls_kind */
};
ABI_SIZE(python_tls, 16);

/* One process. Map `python_procs`: HASH, key: u32 tgid. Members are addresses in the process, or 0 if there
 * is none. Nothing here changes while the process runs. The kernel half makes a row from python_files when a
 * walk meets the file in a process that userspace has not published.
 *
 * Map `python_files`: HASH, key: u32 file; the same struct with the file's own addresses, for processes that
 * userspace has not published yet. */
struct python_proc {
	__u64 tstate_current; /* thread state of the GIL's holder: <= 3.11 */
	__u64 tss_key;        /* struct { int initialized; unsigned key }; tss_bare: int key */
	__u64 interpreters;   /* the newest interpreter: 3.7 to 3.11, where tss_key belongs to the oldest */
	__u64 code_type;      /* PyCode_Type */
	__u64 runtime;        /* _PyRuntime: 3.7 on */
	struct python_tls attached; /* thread state of the GIL's holder: >= 3.12 */
	struct python_tls own;      /* thread state of any thread: >= 3.15 */
	struct python_layout at;
};
ABI_SIZE(python_proc, 168);

/* Frames: code id << 20 | offset in the bytecode, in code units. */
#define PYTHON_CODE_BITS 40
#define FRAME_PYTHON(code, lasti) \
	FRAME_OF(FRAME_LANG_PYTHON, (__u64)(code) << 20 | ((lasti) & 0xfffff))

/* Record of a code object, sent before any stack that shows it. */
#define PYTHON_NAME_MAX      512
#define PYTHON_FILE_MAX      1024
#define PYTHON_LINETABLE_MAX 16384

enum python_code_flags {
	PYTHON_UNREADABLE = 1, /* only pid, addr and code are set: userspace reads the process */
};
struct python_code_record {
	struct lang_record head; /* time: 0 */
	__u64 code;       /* id: a hash of all members below, or of pid and addr if unreadable */
	__u64 addr;       /* address of the code object */
	__u32 flags;      /* enum python_code_flags */
	__u32 firstlineno;
	__u32 linetable_size; /* the whole size; at most PYTHON_LINETABLE_MAX bytes are here */
	__u32 name_size, file_size; /* bytes, cut at the limits */
	__u8 name_kind, file_kind;  /* bytes per character: 1 (latin-1 or ASCII), 2, 4 */
	__u8 lines;                 /* enum python_lines */
	__u8 pad;
	__u64 name[PYTHON_NAME_MAX / 8];
	__u64 file[PYTHON_FILE_MAX / 8];
	__u64 linetable[PYTHON_LINETABLE_MAX / 8]; /* only the used part is sent */
};
ABI_SIZE(python_code_record, 64 + 512 + 1024 + 16384);
