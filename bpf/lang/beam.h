/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* beam.h - the interface between src/unwinders/beam/ and bpf/lang/beam.bpf.c.
 *
 * The JIT compiler of Erlang/OTP (x86_64) keeps the stack of the Erlang process that runs in sp. Its words are terms,
 * or return addresses, which are multiples of 4; the two low bits of terms say that they are terms. Code of the runtime
 * in C runs on the scheduler's own stack: it leaves sp in rbp, or in Process.stop.
 *
 * Layouts of otp at tags OTP-25.2.3, OTP-27.3.4 and OTP-29.1, the same except for the members of struct beam_proc:
 * erts/emulator/beam/erl_process.h (Process, ErtsSchedulerData), beam_code.h (BeamCodeHeader, BeamCodeLineTab,
 * ErtsCodeInfo), beam_ranges.c (struct ranges), atom.h (Atom), index.h (IndexTable). Offsets in bytes. */
#pragma once
#include "bpf/walk/unwind.h"

/* pthread_getspecific(), as offsets from the thread pointer. Keys below `inlined` are at `first`, others in blocks of
 * 1 << block_shift whose addresses are at `blocks`. */
struct beam_tsd {
	__s16 first, blocks;
	__u16 inlined;
	__u8 block_shift;
	__u8 entry_shift; /* size of an entry, as a shift */
	__u8 value;       /* the value within an entry */
	__u8 pad[3];
};

#define BEAM_TABLES 3 /* code that is being loaded changes one of them */
#define BEAM_HEAP_MAX (1ULL << 40) /* bytes, and words */

/* One process. Map `beam_procs`: HASH, key: u32 tgid. Nothing here changes while the process runs.
 *
 * Map `beam_files`: not used, because all of it comes from the process. */
struct beam_proc {
	__u64 ranges;     /* address of r[BEAM_TABLES]; 0: the layout is unknown, and stacks are marked */
	__u64 atoms;      /* address of the table of atoms */
	__u64 end;        /* the last return address of each Erlang process's stack; 0: not known yet */
	__u32 key;        /* of the thread-specific ErtsSchedulerData */
	__u16 current;    /* ErtsSchedulerData: current_process */
	__u16 heap;       /* Process: heap, hend, abandoned_heap, heap_sz */
	__u16 functions;  /* BeamCodeHeader: functions[] */
	__u16 lines;      /* line_table */
	__u16 boxed;      /* an atom's name is a term */
	__u16 pid_bits;   /* of an Erlang process's number in its identifier; 0: unknown */
	__u32 generation; /* differs from that of an earlier process with the same pid */
	__u32 pid_places; /* log2 of the size of the table of Erlang processes */
	struct beam_tsd tsd;
	__u32 pad3;
};
ABI_SIZE(beam_proc, 64);

/* An Erlang process, <0.number.serial>. Its identifier is a term: the tag 0011, pid_bits of number, then the serial
 * number. OTP 25 has 15 and 13 bits of them. OTP 27 and 29 have 28 and 32 bits, and the low pid_places bits of the
 * number are the process's place in a table: the low 3 bits of the place are the high bits of these (erl_ptab.h and
 * erl_node_container_utils.h in erts/emulator/beam/ at the tags above). */
#define BEAM_PID_TAG       3
#define BEAM_PID_OLD_BITS  15
#define BEAM_PID_BITS      28
#define BEAM_SERIAL_OLD    0x1fff
#define BEAM_LINE_BITS     3 /* of a place within a line of the CPU's cache */

#define FRAME_BEAM(id) FRAME_OF(FRAME_LANG_BEAM, id)
#define FRAME_BEAM_RUNTIME FRAME_BEAM(1) /* code of the JIT compiler that belongs to no module */

/* The name of an atom, in UTF-8. An atom has at most 255 characters. */
#define BEAM_TEXT_MAX 256
struct beam_text {
	__u32 size; /* bytes; 0: not readable */
	__u32 full; /* bytes of the whole name */
	__u8 chars[BEAM_TEXT_MAX];
};
ABI_SIZE(beam_text, 8 + BEAM_TEXT_MAX);

/* Record of a code position, sent before any stack that shows it. */
struct beam_record {
	struct lang_record head; /* time: 0 */
	__u64 frame; /* FRAME_BEAM(): a hash of what follows */
	__u32 arity;
	__u32 line;  /* 0: unknown */
	struct beam_text module, function, file; /* file: size 0: it is the module's name with ".erl" */
};
ABI_SIZE(beam_record, 40 + 3 * (8 + BEAM_TEXT_MAX));
