/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* perl.h - the interface between src/unwinders/perl/ and bpf/lang/perl.bpf.c.
 *
 * Perl keeps a context for each sub, eval and block that runs, in an array for each stackinfo; C that calls Perl
 * (sort, overloading, DESTROY, tie) begins a new stackinfo, which points to the previous one. One
 * Perl_runops_standard() in C runs the contexts up to a sub that returns to C (retop 0), a block of sort, or the
 * program. A context has the statement (COP) of its caller, with line and file.
 *
 * Layouts of perl at tags v5.32.1 to v5.42.0, the same except for the members of struct perl_proc that rows of
 * src/unwinders/perl/perl.c set: perl/intrpvar.h (struct interpreter), cop.h (PERL_SI, PERL_CONTEXT, COP), cv.h, gv.h
 * and hv.h there. Offsets in bytes. */
#pragma once
#include "bpf/walk/unwind.h"

/* Places of the thread's interpreter: pthread_getspecific(), as offsets from the thread pointer. Keys below `inlined`
 * are at `first`, others in blocks of 1 << block_shift whose addresses are at `blocks`. */
struct perl_tsd {
	__s16 first, blocks;
	__u16 inlined;
	__u8 block_shift;
	__u8 entry_shift; /* size of an entry, as a shift */
	__u8 value;       /* the value within an entry */
	__u8 pad[7];
};

/* One process. Map `perl_procs`: HASH, key: u32 tgid. Nothing here changes while the process runs.
 *
 * Map `perl_files`: HASH, key: u32 file; the same struct with the file's own addresses, for processes that
 * userspace has not published yet. */
struct perl_proc {
	__u64 key;      /* address of PL_thr_key; 0: built without threads, the next four are addresses */
	__u64 op, cop, info; /* struct interpreter: Iop, Icurcop, Icurstackinfo; info 0: unknown, stacks are marked */
	__u64 seq;      /* Icop_seqmax, u32: Perl adds to it at the end of each block that it compiles; 0: unknown */
	__u64 docatch;  /* address of S_docatch(), which runs a loop within another one; 0: unknown */
	__u32 docatch_size;
	__u16 name_inside; /* a stash's name follows its body; 0: its array */
	__u16 entersub;    /* op_type of a call; 0: unknown */
	struct perl_tsd tsd;
};
ABI_SIZE(perl_proc, 72);

/* Frames: code id << 20 | line; 0: the line is unknown, or beyond the limit. */
#define PERL_LINE_MAX 0xfffff
#define PERL_CODE_BITS 40
#define FRAME_PERL(code, line) FRAME_OF(FRAME_LANG_PERL, (__u64)(code) << 20 | ((line) & PERL_LINE_MAX))

/* Record of a sub in a file, sent before any stack that shows it. */
#define PERL_NAME_MAX 512
#define PERL_FILE_MAX 1024

enum perl_code_flags {
	PERL_UNREADABLE = 1, /* only pid, addr and code are set */
};

enum perl_kind {
	PERL_SUB,     /* name; package: size 0 if it is a lexical sub */
	PERL_MAIN,    /* the program */
	PERL_EVAL,    /* eval of a block or of a string */
	PERL_REQUIRE, /* the file that require runs */
	PERL_SORT,    /* a block of sort */
	PERL_KINDS
};

struct perl_code_record {
	struct lang_record head; /* time: 0 */
	__u64 code;  /* id: a hash of all members below but addr, or of pid and addr if unreadable */
	__u64 addr;  /* a hash of the sub's address and of the file's */
	__u32 flags; /* enum perl_code_flags */
	__u32 kind;  /* enum perl_kind */
	__u32 name_size, package_size, file_size; /* bytes, cut at the limits */
	__u32 pad;
	__u64 name[PERL_NAME_MAX / 8];
	__u64 package[PERL_NAME_MAX / 8];
	__u64 file[PERL_FILE_MAX / 8]; /* only the used part is sent */
};
ABI_SIZE(perl_code_record, 64 + 2 * PERL_NAME_MAX + PERL_FILE_MAX);
