/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* python.h - the treaty between src/unwinders/python.c and bpf/python.bpf.c.
 *
 * CPython keeps its frames in a list of its own, from a thread state to the first
 * frame. One activation of the eval loop in C runs one or several of them; the
 * native walk asks for those of an activation when it stands in the eval loop.
 * Where things lie in a version is data, filled in by userspace: the kernel half
 * tests no versions. */
#pragma once
#include "unwind.h"

/* How a line table is written. */
enum python_lines {
	PYTHON_LNOTAB,    /* up to 3.9: pairs of bytes of code and lines */
	PYTHON_LINETABLE, /* 3.10: ranges */
	PYTHON_LOCATIONS, /* 3.11 on: with columns */
};

/* Offsets in bytes within CPython's objects. */
struct python_layout {
	/* thread state -> (cframe ->) current frame */
	__u16 tstate_thread_id;
	__u16 tstate_cframe;   /* 0: current_frame is in the thread state itself */
	__u16 current_frame;   /* in the cframe, or in the thread state */

	/* interpreter frame (<= 3.10: frame object) */
	__u16 frame_code;
	__u16 frame_previous;
	__u16 frame_instr;
	__u16 frame_boundary;  /* a byte: at or above boundary_min the activation ends */
	__u8 boundary_min;     /* 0: each frame is an activation */
	__u8 boundary_shown;   /* the frame there is Python's own, not a stand-in for C */
	__u8 code_tag;         /* low bits of the code pointer that are no address */
	__u8 instr_is_index;   /* frame_instr is an int, not a pointer into the code */
	__u8 instr_shift;      /* to code units */
	__u8 cookie_words;     /* words of the code object that never change: so many.. */
	__u16 cookie;          /* ..from here, and those of ob_size and firstlineno */

	/* code object */
	__u16 code_firstlineno, code_argcount, code_flags;
	__u16 code_filename, code_name, code_linetable;
	__u16 code_code;       /* the bytecode, when it is inline */
	__u16 name_hash;       /* of the name's object, when the cookie needs it; else 0 */

	/* str and bytes */
	__u16 str_length, str_state, str_ascii, str_data;
	__u16 bytes_size, bytes_data;

	/* pthread_getspecific(), as offsets from the thread pointer: keys below
	 * tsd_inline there, others in blocks of 1 << tsd_block_shift */
	__s16 tsd_first, tsd_blocks;
	__u16 tsd_inline;
	__u8 tsd_block_shift;
	__u8 tsd_entry_shift;  /* size of an entry, as a shift */
	__u8 tsd_value;        /* the value within an entry */
	__u8 has_tsd, has_tls;
	__u8 ob_type;          /* of any object */
	__u8 str_kind_shift;   /* in str_state: 3 bits of kind, compact, ascii */
	__u8 lines;            /* enum python_lines */
};
ABI_SIZE(python_layout, 64);

/* One process. Map `python_procs`: HASH, key: u32 tgid. Addresses of the process;
 * 0: there is none. Nothing here changes while the process runs. */
struct python_proc {
	__u64 tstate_current; /* the GIL's holder: <= 3.11 */
	__u64 tss_key;        /* struct { int initialized; unsigned key } */
	__s64 tls_offset;     /* of the thread state from the thread pointer, has_tls */
	__u64 code_type;      /* PyCode_Type */
	struct python_layout at;
};
ABI_SIZE(python_proc, 96);

/* The walk's place among a thread's Python frames; part of the walk's state. The
 * walk sets the first three and zeroes the rest, then:
 *
 *     int python_begin(struct python_cursor *c)
 *         At the walk's first eval loop frame. 0, or -1: no thread state or not
 *         readable (the steps then say 0: eval frames are native frames).
 *     int python_step(struct python_cursor *c, __u64 *frame)
 *         1: one frame of this activation, innermost first. 0: this activation
 *         has no more; unwind the eval loop's C frame natively and ask again at
 *         the next eval loop frame. -1: a frame is not readable, no more Python.
 *
 * Who wants Python only needs no native walk: steps until one says 0 or -1 with
 * cursor.frame 0. */
struct python_cursor {
	__u64 tp;     /* thread pointer; 0: python_begin() finds it */
	__u32 pid;    /* tgid */
	__u32 slot;   /* scratch slot, held by the caller */

	__u64 frame;  /* the next one; 0: none */
	__u64 window; /* address of the stack copied to the scratch; 0: none */
	__u32 begun;  /* python_begin() was called: for the walk's use */
	__u32 ended;  /* the last frame emitted was its activation's last */
};
ABI_SIZE(python_cursor, 40);

/* First sight of a code object, sent before any stack that shows it. */
#define PYTHON_NAME_MAX      512
#define PYTHON_FILE_MAX      1024
#define PYTHON_LINETABLE_MAX 16384
#define PYTHON_CODE_BITS     40

enum python_code_flags {
	PYTHON_UNREADABLE = 1, /* only pid, addr and code are set: read it from the process */
};
struct python_code_record {
	struct record head;
	__u64 code;       /* id: a hash of all below, or of pid and addr when unreadable */
	__u64 addr;       /* of the code object */
	__u32 pid;
	__u32 flags;      /* enum python_code_flags */
	__u32 firstlineno;
	__u32 linetable_size; /* whole; at most PYTHON_LINETABLE_MAX bytes are here */
	__u32 name_size, file_size; /* bytes, cut at the limits */
	__u8 name_kind, file_kind;  /* bytes per character: 1 (latin-1 or ASCII), 2, 4 */
	__u8 lines;                 /* enum python_lines */
	__u8 pad[5];
	__u64 name[PYTHON_NAME_MAX / 8];
	__u64 file[PYTHON_FILE_MAX / 8];
	__u64 linetable[PYTHON_LINETABLE_MAX / 8]; /* sent as far as it is filled */
};
ABI_SIZE(python_code_record, 56 + 512 + 1024 + 16384);
