/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* unwind.h - the interface of the stack walk: src/unwinders/ and bpf/walk/unwind.bpf.c.
 *
 * A process (tgid) has a sorted array of executable mappings; a mapping names a file by its number; a file
 * has a table of rules by address (ELF vaddr). Userspace writes all of them, most before they are needed; the
 * kernel half asks for missing ones through the ring buffer. */
#pragma once
#include "bpf/lib/record.h"

/* ---- frames and stacks ------------------------------------------------- */

/* A frame is position independent.
 *     native:  0 | file id (20 bits) | ELF vaddr (40 bits), top 4 bits 0
 *     others:  language (4 bits) | the language's own 60 bits
 * A native vaddr is the address *looked up*: pc for an exact frame (interrupted or signalled there),
 * pc-1 for a return address, so that a name or a line is the caller's. Code outside of known files has a
 * frame of FRAME_LANG_ADDRESS. */
#define FRAME_FILE_SHIFT 40
#define FRAME_VADDR_MASK ((1ULL << FRAME_FILE_SHIFT) - 1)
#define FRAME_LANG_SHIFT 60
#define FRAME_NATIVE(file, vaddr) \
	(((__u64)(file) << FRAME_FILE_SHIFT) | ((vaddr) & FRAME_VADDR_MASK))

/* The relation of a language's frames to native ones: see languages.def. */
enum lang_kind { LANG_LIST, LANG_NATIVE, LANG_FRAME };

enum frame_lang {
	FRAME_LANG_NATIVE,
#define L(id, stem, builtin, kind, name) FRAME_LANG_##id,
#include "bpf/languages.def"
#undef L
	FRAME_LANGS,             /* native, and one for each row */
	FRAME_LANG_ADDRESS = 14, /* native, outside of known files: low 60 bits of the address, sign-extended */
	FRAME_LANG_KERNEL = 15,  /* a kernel address, stored like FRAME_LANG_ADDRESS's */
};
_Static_assert(FRAME_LANGS <= FRAME_LANG_ADDRESS, "4 bits of a frame");

/* A language's frame. Most languages use these 60 bits as: id of the code (40 bits) << 20 | position in that
 * code. A frame of kind LANG_NATIVE is a native frame. */
#define FRAME_OF(lang, value)                                                            \
	((__u64)(lang) << FRAME_LANG_SHIFT | ((__u64)(value) & ((1ULL << FRAME_LANG_SHIFT) - 1)))

/* The address of a FRAME_LANG_ADDRESS or FRAME_LANG_KERNEL. */
#define FRAME_ADDRESS(frame) ((__u64)((__s64)((__u64)(frame) << 4) >> 4))

/* Sets of languages: bits 1 << enum frame_lang. */
enum lang_sets {
#define L_OF(id, kind, which) | (LANG_##kind == (which)) << FRAME_LANG_##id
	LANGS_LIST = 0
#define L(id, stem, builtin, kind, name) L_OF(id, kind, LANG_LIST)
#include "bpf/languages.def"
#undef L
	,
	LANGS_NATIVE = 0
#define L(id, stem, builtin, kind, name) L_OF(id, kind, LANG_NATIVE)
#include "bpf/languages.def"
#undef L
	,
	LANGS_FRAME = 0
#define L(id, stem, builtin, kind, name) L_OF(id, kind, LANG_FRAME)
#include "bpf/languages.def"
#undef L
	,
	LANGS_ALL = LANGS_LIST | LANGS_NATIVE | LANGS_FRAME,
};

enum unwind_end {
#define E(end, text) UNWIND_##end,
#include "unwind_end.def"
#undef E
	UNWIND_END_MAX
};

#define UNWIND_LIMIT_DEFAULT 1024
#define UNWIND_LIMIT_MAX     16384

/* Request to stack_user() and its answer, on the caller's BPF stack. */
struct stack_req {
	__u32 filter;   /* in: 0: all frames (ustack); else only these languages, by bits as in enum lang_sets */
	__u32 limit;    /* in: maximum number of frames, 1..UNWIND_LIMIT_MAX */
	__u32 slot;     /* in: scratch slot held by the caller */
	__u16 len_only; /* in: 1: only count, store and send nothing */
	__u16 back;     /* in: bytes from the function's start to the probed instruction: the frame has the start */
	__u64 id;       /* out: 0 for the empty stack; with STACK_PROVISIONAL userspace finishes the walk, and nr
	                 * is unknown */
	__u32 nr;       /* out: frames delivered */
	__u32 end;      /* out: enum unwind_end */
};
ABI_SIZE(stack_req, 32);

/* A provisional id has this bit, and the RECORD_WALK of the same id has the data from which userspace makes
 * the real one. Ids of finished stacks have it clear. */
#define STACK_PROVISIONAL (1ULL << 63)

/* Record of a stack, sent before any use of its id. The id is the fold of frames by STACK_HASH, then of end,
 * with bit 63 cleared; 0 becomes 1. Both sides compute it: userspace for the walks it finishes. A stack
 * without frames has the id STACK_EMPTY(end), which userspace knows and nobody sends, or 0 if the process has
 * no stack: end is COMPLETE or NO_USER. */
struct stack_record {
	struct record head;
	__u64 id;
	__u32 nr;
	__u32 end;
	__u64 frames[]; /* nr, innermost first */
};

#define STACK_HASH_SEED 0x9e3779b97f4a7c15ULL
#define STACK_HASH(h, x) ((((h) ^ (x)) * 0xff51afd7ed558ccdULL) ^ (((h) ^ (x)) >> 29))
#define STACK_EMPTY(end) (STACK_HASH(STACK_HASH_SEED, (__u64)(end)) & ~STACK_PROVISIONAL)

/* A walk that met an unknown address or file. Userspace finishes it with the same code (the kernel half built
 * for the host) on these registers and this copy of the stack; from then on id means the finished stack. */
#define WALK_STACK_MAX 32768
#define WALK_PIECE     1024
#define WALK_COPY(sp)  ((sp) & ~(WALK_PIECE - 1ULL)) /* first address of the copy */
struct walk_record {
	struct record head;
	__u64 id; /* provisional */
	__u32 pid, tid;
	__u32 filter, limit; /* struct stack_req's */
	__u64 pc, sp, fp, lr;
	__u64 regs[16];   /* by enum rule_reg; arm64: only the registers that it has there */
	__u64 tp;         /* thread pointer: fsbase, tpidr_el0 */
	__u64 time;       /* CLOCK_MONOTONIC ns */
	__u64 list;       /* id of a stack with the frames of a LANG_LIST language at that time, each activation
	                   * ended by an address in its C frame, or 0; 0: no such stack. Later these frames may be
	                   * gone */
	__u32 list_lang;  /* their enum frame_lang */
	__u32 holes;      /* 1 << number of a piece of the copy that was not readable: never written, or not in the
	                   * page table at that moment */
	__u32 size;       /* bytes of stack that follow, from WALK_COPY(sp) */
	__u32 end;        /* reason for which the kernel's walk stopped */
	__u64 stack[];
};

/* Head of the record of a language's code, sent before any stack that shows the code. The language defines
 * the rest: see its header. */
struct lang_record {
	struct record head; /* id: enum frame_lang */
	__u64 time;         /* CLOCK_MONOTONIC ns: userspace first reads the process's events up to then; 0: not
	                     * necessary */
	__u32 pid;          /* tgid */
	__u32 pad;
};
ABI_SIZE(lang_record, 24);

/* From the kernel to userspace: pc of pid is in no known mapping, or pid is unknown. */
struct miss_record {
	struct record head;
	__u32 pid;
	__u32 pad;
	__u64 pc;
	__u64 time; /* CLOCK_MONOTONIC ns */
};
ABI_SIZE(miss_record, 32);

/* ---- processes --------------------------------------------------------- */

/* One executable mapping. vaddr of a pc = pc - bias. */
enum mapping_flags {
	MAPPING_NO_TABLE = 1, /* userspace found no table: walk by frame pointer */
	MAPPING_ANON = 2,     /* no file: JIT or stack code; walk by frame pointer */
	MAPPING_VDSO = 8,
	MAPPING_UPROBES = 16, /* "[uprobes]": return address of functions with uretprobes */
	MAPPING_WRITE = 64,   /* also writable */
	/* From here on 1 << enum frame_lang: the language of the code. In a file: an interpreter's
	 * loop (LANG_LIST), or the languages in the file's table (others). With MAPPING_ANON: the
	 * language's compiled code. */
	MAPPING_LANGS_SHIFT = 16,
};
#define MAPPING_LANG(lang)   (1U << (MAPPING_LANGS_SHIFT + (lang)))
#define MAPPING_LANGS(langs) ((__u32)(langs) << MAPPING_LANGS_SHIFT)
struct mapping {
	__u64 start, end; /* half open */
	__u64 bias;
	__u32 file;       /* file id; 0: none */
	__u32 flags;      /* enum mapping_flags */
};
ABI_SIZE(mapping, 32);

/* Constants that userspace sets before the load: rodata, `unwind_config`. */
struct unwind_config {
	__u32 max_frames;  /* maximum number of frames in a stored stack */
	__u32 frames_mask; /* 2^n - 1, at least max_frames - 1: `frames` holds one more than that */
	/* Offsets of kernel structs, from BTF; 0: unknown, not used. */
	__u32 task_tp;    /* task_struct.thread.fsbase, arm64: thread.uw.tp_value, saved when the thread was last
	                   * switched */
	__u32 task_mm;    /* task_struct.mm */
	__u32 task_utask; /* task_struct.utask */
	__u32 utask_returns; /* uprobe_task.return_instances */
	__u32 utask_copy, utask_at; /* uprobe_task: xol_vaddr, vaddr */
	__u32 return_stack, return_addr, return_next; /* return_instance: stack, orig_ret_vaddr, next */
	/* vm_area_struct: vm_end (after vm_start), vm_pgoff, vm_file; file: f_inode; inode: i_ino, i_sb;
	 * super_block: s_dev. Used if vma_lookup is 1. */
	__u32 vma_lookup, vma_end, vma_pgoff, vma_file, file_inode, inode_ino, inode_sb, sb_dev;
	__u32 page_shift;   /* shift of vm_pgoff */
	__u32 address_bits; /* arm64: bits of a user address; a return address is signed above them */
	__u32 vma_flags;    /* vm_area_struct: vm_flags; 0: unknown */
	__u32 mm_exec_vm;   /* mm_struct: number of executable pages that are not writable */
	__u32 languages;    /* 1 << enum frame_lang: all walks want only these (struct stack_req.filter); 0: no
	                     * restriction */
	__u32 loaded;       /* 1 << enum frame_lang: the languages whose functions the object has. A walk that meets
	                     * another one is handed over to userspace or marked: UNWIND_LANG_LATE */
	__u32 pad;
};
ABI_SIZE(unwind_config, 104);

/* A language's struct STEM_proc may have a generation: a u32 that differs for two processes which had the same pid.
 * This bit marks one given by the kernel half, to a process that userspace has not published. Userspace keeps it. */
#define LANG_BY_KERNEL (1U << 31)

/* Map `files_by_inode`: HASH (no prealloc), key struct inode_key, value struct inode_file: files whose
 * tables are in the kernel. A walk that comes to a mapping which userspace has not published yet asks the
 * kernel for the mapping (bpf_find_vma) and this map for its file. Data that a language needs of a file is
 * in the map `STEM_files`. */
#define INODE_SEGMENTS 4
struct inode_key {
	__u64 inode;
	__u32 dev; /* the kernel's number: major << 20 | minor */
	__u32 pad;
};
struct inode_file {
	__u32 file;      /* file id */
	__u16 n;         /* number of executable segments */
	__u16 languages; /* 1 << enum frame_lang, from the file's table */
	struct {
		__u64 offset, end; /* range in the file, from the beginning of its page */
		__u64 delta;       /* vaddr - file offset */
	} segment[INODE_SEGMENTS];
};
ABI_SIZE(inode_file, 8 + 24 * INODE_SEGMENTS);

/* Map `mappings`: HASH (no prealloc), key struct mapping_key, value struct mapping_chunk. Chunk 0 exists for
 * every known process; with more than MAPPINGS_PER_CHUNK mappings, chunk_start[i] is the first address of
 * chunk i, and the other chunks have the same pid. */
#define MAPPINGS_PER_CHUNK 256
#define MAPPING_CHUNKS     32
struct mapping_key {
	__u32 pid; /* tgid */
	__u32 chunk;
};
struct mapping_chunk {
	__u32 n;                            /* mappings in this chunk */
	__u32 chunks;                       /* in chunk 0: number of chunks of the process */
	__u32 misses;                       /* counted by the kernel since the last write */
	__u32 languages;                    /* in chunk 0: languages of its files, 1 << enum frame_lang */
	__u32 native_file;                  /* in chunk 0: the first file with a language of kind LANG_NATIVE; 0:
	                                     * none */
	/* In chunk 0: KiB of mappings without MAPPING_WRITE. The kernel has the same count: if they differ, the
	 * process has mapped code since or runs another program, and may have a language that is not in languages. */
	__u32 code_kb;
	__u32 readable;                     /* 1: see READABLE_NS */
	__u32 pad;
	__u64 next_ns;                      /* CLOCK_MONOTONIC: see READABLE_NS */
	__u64 pcre_start, pcre_end;         /* in chunk 0: code of libpcre2, which calls its compiled patterns; 0:
	                                     * none */
	__u64 chunk_start[MAPPING_CHUNKS];  /* in chunk 0, sorted */
	struct mapping map[MAPPINGS_PER_CHUNK]; /* sorted by start */
};
/* Map `mapping_versions`: ARRAY of u64 by MAPPING_VERSION(tgid): CLOCK_MONOTONIC ns of the last change to a chunk of
 * such a process, written after the change. While it stays the same, the next walk of the process on that CPU may
 * use the mappings that the last one has found. */
#define MAPPING_VERSIONS     256
#define MAPPING_VERSION(pid) ((__u32)(pid) & (MAPPING_VERSIONS - 1))
/* After this many misses without an answer the kernel walks on by frame pointer and sends no more copies of
 * the stack for this process. */
#define MAPPING_MISSES_MAX 192
/* The limit for a process that userspace has not published yet, in bytes sent. Map `unknown_procs`: ARRAY of struct
 * unknown_proc by UNKNOWN_SLOT(tgid). Userspace clears the slot when it publishes the process, or when the process
 * ends. Another unknown process with the same slot takes it over: the limit then begins anew for both. */
#define UNKNOWN_BYTES_MAX (6 << 20)
#define UNKNOWN_SLOTS     2048
#define UNKNOWN_SLOT(pid) ((__u32)(pid) & (UNKNOWN_SLOTS - 1))
struct unknown_proc {
	__u32 pid;  /* tgid; 0: none */
	__u32 sent; /* bytes */
};
/* Userspace finishes a walk that came to a page which a program in the kernel cannot read: the page is loaded
 * for it. A stack that leads nowhere stays unreadable. So the kernel asks once per process in UNREADABLE_NS,
 * or in READABLE_NS if userspace has finished such a walk. */
#define UNREADABLE_NS 100000000ULL
#define READABLE_NS   8000000ULL

/* ---- tables ------------------------------------------------------------ */

/* The table of a file id never changes: the kernel half remembers rules by file id and address.
 *
 * Map `tables`: ARRAY_OF_MAPS by file id; each inner map is an ARRAY of struct table_chunk (BPF_F_INNER_MAP), the last
 * one with zeros at its end. The cache file's payload is the same bytes, without the zeros. Content, as u32[]:
 *
 *     struct table_header
 *     u64 rules[nrules]          a rule, see RULE_*
 *     u32 pages[npages + 1]      index of the first row of a page, by
 *                                (vaddr - base) >> TABLE_PAGE_SHIFT
 *     u32 rows[nrows]            low bits of the address (16) << 16 | rule (16)
 *
 * The first row of every page has low bits 0: a copy of the rule that is valid at the beginning of the page;
 * the rows of a page ascend. Offsets are in u32 units. */
#define TABLE_MAGIC      0x74617274u /* "trat" */
#define TABLE_VERSION    6
#define TABLE_PAGE_SHIFT 10
#define TABLE_RANGES     8

enum table_flags {
	/* Kinds of search that found ranges besides the function's own. */
	TABLE_BY_JUMPS = 16,
	TABLE_BY_NAMES = 32,
	TABLE_BY_SIZE = 64,
	TABLE_DISPATCHES = 128, /* the ranges contain an interpreter's dispatch jumps */
	/* From here on 1 << enum frame_lang: the file has that language. LANG_LIST: range[] is its
	 * interpreter's loop; LANG_NATIVE: code_start.. is its code; LANG_FRAME: its builtins have RULE_LANG. */
	TABLE_LANGS_SHIFT = 16,
};
#define TABLE_LANG(lang) (1U << (TABLE_LANGS_SHIFT + (lang)))
struct table_header {
	__u32 magic, version;
	__u64 base;             /* vaddr of page 0 */
	__u32 flags;            /* enum table_flags */
	__u32 nrules, npages, nrows;
	__u32 rules, pages, rows; /* offsets in u32 */
	__u32 nranges;
	struct {                /* interpreter code, vaddr - base, half open */
		__u32 start, end;
	} range[TABLE_RANGES];
	__u32 code_start, code_end; /* code of a language of kind LANG_NATIVE: vaddr - base, half open; equal: none */
	__u32 own[2];               /* that language's own data: see its header */
};
ABI_SIZE(table_header, 128);

/* An element of a table's map: larger elements are written faster, smaller ones waste less. */
#define TABLE_CHUNK_SHIFT 8
struct table_chunk {
	__u64 word[1 << TABLE_CHUNK_SHIFT]; /* the first chunk contains the header */
};
ABI_SIZE(table_chunk, 2048);

/* A rule says how the CFA is computed and where RA and the caller's frame pointer are, on x86_64 and arm64. As u64:
 *     bits  0-3   kind (enum rule_kind)
 *     bits  4-7   CFA register (enum rule_reg)
 *     bits  8-15  flags (enum rule_flags)
 *     bits 16-31  fp slot: s16, in 8-byte words from the CFA
 *     bits 32-63  CFA offset: s32, bytes (RULE_CFA_DEREF: s16 before the load in
 *                 bits 32-47, s16 added to the loaded value in 48-63)
 * An fp slot of 0 means that fp is unchanged; with RULE_FP_AT_FP the slot counts from the frame pointer, and
 * 0 is a slot, too. RA is at CFA-8 on x86_64; on arm64 the flags give its place. A row with index RULE_NONE
 * has no rule: the frame pointer is tried. Registers other than sp and fp are known only in the interrupted
 * frame, except rbx, see RULE_RBX. */
enum rule_kind {
	RULE_UNKNOWN,   /* no rule here; never in a table */
	RULE_CFA,       /* CFA = reg + offset */
	RULE_CFA_DEREF, /* CFA = *(reg + offset) + offset: realigned frames, switched stacks */
	RULE_PLT,       /* CFA = sp + 8 + (((pc & 15) >= offset) << 3) */
	RULE_SIGNAL,    /* registers from the signal frame at sp */
	RULE_END,       /* the thread's first frame */
	RULE_LONGJMP,   /* in glibc: sp, fp, RA are in r8, r9, rdx; arm64: in the jmp_buf at x0, and fp and RA
	                 * either both or neither already in their registers */
	RULE_FP,        /* arm64: a function of known bounds without a rule: by frame pointer. The offset is its size */
	RULE_LANG,      /* a frame of the mapping's language of kind LANG_FRAME, which makes the step. The offset
	                 * is the language's own */
	RULE_OWN,       /* this and all above: kinds of the mapping's language of kind LANG_NATIVE, see its header */
};
enum rule_reg { /* x86_64; arm64 has the first two, R13, and those named X. ORDER RULE_REG */
	RULE_REG_SP, RULE_REG_FP,
	RULE_REG_RAX, RULE_REG_RDX, RULE_REG_RCX, RULE_REG_RBX, RULE_REG_RSI, RULE_REG_RDI,
	RULE_REG_R8, RULE_REG_R9, RULE_REG_R10, RULE_REG_R11,
	RULE_REG_R12, RULE_REG_R13, RULE_REG_R14, RULE_REG_R15,
	RULE_REG_X0 = RULE_REG_RAX,  /* arm64: never in a rule */
	RULE_REG_X1 = RULE_REG_RDX,
	RULE_REG_X19 = RULE_REG_R8,  /* HotSpot's registers */
	RULE_REG_X20 = RULE_REG_R9,
	RULE_REG_X22 = RULE_REG_R10,
	RULE_REG_X12 = RULE_REG_R12,
	RULE_REG_X28 = RULE_REG_R15, /* arm64: Go's g, never in a rule */
};
enum rule_flags {
	RULE_RA_REG = 1,   /* RA is in a register (arm64: LR; x86_64: rdi, vfork) */
	RULE_RA_SLOT = 2,  /* arm64: RA at fp slot + 8 */
	RULE_RA_ONLY = 4,  /* arm64: the slot is RA's, fp is unchanged; x86_64, with RULE_RA_REG: the slot is the
	                    * register that has RA (enum rule_reg) */
	RULE_RA_X13 = RULE_RA_REG | RULE_RA_ONLY, /* arm64: RA is in x13, for a call that preserves x13: glibc's
	                                           * setjmp (2.41) */
	RULE_FP_AT_FP = 8, /* the caller's fp is at fp + slot */
	RULE_RBX = 16,     /* x86_64: bits 56-63: slot of rbx, s8 words from the CFA (0: unchanged), and the CFA
	                    * offset has 24 bits. In files that count a CFA from rbx: ld.so's lazy binding */
	RULE_EXACT = 32,   /* the caller was interrupted: RA is a pc about to run. arm64: by Go's runtime, which
	                    * left its LR at the CFA and its sp 16 above */
	RULE_ALTERNATE = 64, /* in tables with a row per function, neighbours that are otherwise equal differ in this */
};
#define RULE(kind, reg, flags, slot, offset)                                             \
	((__u64)(kind) | (__u64)(reg) << 4 | (__u64)(flags) << 8 |                       \
		(__u64)(__u16)(slot) << 16 | (__u64)(__u32)(offset) << 32)
/* Fields of a rule. RULE_CFA_DEREF has two: before the load, and added to the loaded value. */
#define RULE_KIND(rule)     ((rule) & 15)
#define RULE_REG(rule)      ((rule) >> 4 & 15)
#define RULE_FLAGS(rule)    ((rule) >> 8 & 0xff)
#define RULE_SLOT(rule)     ((__s64)(__s16)((rule) >> 16) * 8) /* in bytes */
#define RULE_OFFSET(rule)   ((__s64)(__s32)((rule) >> 32))
#define RULE_BEFORE(rule)   ((__s64)(__s16)((rule) >> 32))
#define RULE_BEHIND(rule)   ((__s64)(__s16)((rule) >> 48))
/* With RULE_RBX: the CFA's offset of 24 bits, rbx's slot in bytes. */
#define RULE_OFFSET_24(rule) ((__s64)((rule) << 8) >> 40)
#define RULE_RBX_SLOT(rule)  (((__s64)(rule) >> 56) * 8)
#define RULE_NONE  0xffff
#define RULES_MAX  0xffff
