/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* unwind.h - the treaty of the stack walk: src/unwinders/ and bpf/walk/unwind.bpf.c.
 *
 * A process (tgid) has a sorted array of executable mappings; a mapping names a
 * file by its number; a file has a table of rules by address (ELF vaddr). All of
 * them are written by userspace, most before they are needed; what is missing is
 * asked for through the ring buffer. */
#pragma once
#include "bpf/lib/record.h"

/* ---- frames and stacks ------------------------------------------------- */

/* A frame is position independent.
 *     native:  0 | file id (20 bits) | ELF vaddr (40 bits), top 4 bits 0
 *     others:  language (4 bits) | the language's own 60 bits
 * A native vaddr is the address *looked up*: pc for an exact frame (interrupted
 * or signalled there), pc-1 for a return address, so that a name or a line is the
 * caller's. Code of no known file has a frame of FRAME_LANG_ADDRESS. */
#define FRAME_FILE_SHIFT 40
#define FRAME_VADDR_MASK ((1ULL << FRAME_FILE_SHIFT) - 1)
#define FRAME_LANG_SHIFT 60
#define FRAME_NATIVE(file, vaddr) \
	(((__u64)(file) << FRAME_FILE_SHIFT) | ((vaddr) & FRAME_VADDR_MASK))

/* How a language's frames stand among native ones: see languages.def. */
enum lang_kind { LANG_LIST, LANG_NATIVE, LANG_FRAME };

enum frame_lang {
	FRAME_LANG_NATIVE,
#define L(id, stem, builtin, kind, name) FRAME_LANG_##id,
#include "bpf/languages.def"
#undef L
	FRAME_LANGS,             /* native, and one for each row */
	FRAME_LANG_ADDRESS = 14, /* native, of no known file: low 60 bits of the address, restored by sign */
	FRAME_LANG_KERNEL = 15,  /* the same of a kernel address */
};
_Static_assert(FRAME_LANGS <= FRAME_LANG_ADDRESS, "4 bits of a frame");

/* A language's frame. Most languages use these 60 bits as: id of the code (40 bits) << 20 |
 * position in that code. A frame of kind LANG_NATIVE is a native frame. */
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
};

enum unwind_end {
#define E(end, text) UNWIND_##end,
#include "unwind_end.def"
#undef E
	UNWIND_END_MAX
};

#define UNWIND_LIMIT_DEFAULT 1024
#define UNWIND_LIMIT_MAX     16384

/* Call to stack_user(): in, then out. On the caller's BPF stack. */
struct stack_req {
	__u32 filter;   /* in: 0: all frames (ustack); else of these languages alone, by bits as in
	                 * enum lang_sets */
	__u32 limit;    /* in: frames at most, 1..UNWIND_LIMIT_MAX */
	__u32 slot;     /* in: scratch slot held by the caller */
	__u32 len_only; /* in: 1: count, store and send nothing */
	__u64 id;       /* out: 0: the empty stack; STACK_PROVISIONAL is set: userspace finishes the walk, and nr
	                 * is not known */
	__u32 nr;       /* out: frames delivered */
	__u32 end;      /* out: enum unwind_end */
};
ABI_SIZE(stack_req, 32);

/* A provisional id: this bit is set, and the RECORD_WALK of the same id says how
 * to make the real one. Ids of finished stacks have it clear. */
#define STACK_PROVISIONAL (1ULL << 63)

/* First sight of a stack, sent before any use of its id. The id is the fold of
 * frames by STACK_HASH, then of end, bit 63 cleared; 0 becomes 1. Both sides
 * compute it: userspace for the walks it finishes. Without frames it is that of
 * STACK_EMPTY(end), which userspace knows and nobody sends; or 0 when the process has
 * none: end is COMPLETE or NO_USER. */
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

/* A walk that came to an address or file that is not known yet: userspace finishes it with the same
 * code (the kernel half built for the host) on these registers and this copy of
 * the stack, and then id means the finished stack. */
#define WALK_STACK_MAX 32768
#define WALK_PIECE     1024
#define WALK_COPY(sp)  ((sp) & ~(WALK_PIECE - 1ULL)) /* where the copy begins */
struct walk_record {
	struct record head;
	__u64 id; /* provisional */
	__u32 pid, tid;
	__u32 filter, limit; /* of struct stack_req */
	__u64 pc, sp, fp, lr;
	__u64 regs[16];   /* by enum rule_reg; arm64: those that it names for it */
	__u64 tp;         /* thread pointer: fsbase, tpidr_el0 */
	__u64 time;       /* CLOCK_MONOTONIC ns */
	__u64 list;       /* stack of the frames of a LANG_LIST language at that time, each activation's
	                   * ended by an address in its C frame, or 0; 0: none. Later they
	                   * could not be read again. */
	__u32 list_lang;  /* enum frame_lang of those */
	__u32 holes;      /* 1 << a piece of the copy that could not be read: nobody had written to it yet, or it
	                   * was not in the page table just then */
	__u32 size;       /* bytes of stack that follow, from WALK_COPY(sp) */
	__u32 end;        /* why the kernel's walk gave up */
	__u64 stack[];
};

/* First sight of a language's code, sent before any stack that shows it. The rest is the
 * language's own: see its header. */
struct lang_record {
	struct record head; /* id: enum frame_lang */
	__u64 time;         /* CLOCK_MONOTONIC ns: userspace reads the process' events up to then first;
	                     * 0: no need to */
	__u32 pid;          /* tgid */
	__u32 pad;
};
ABI_SIZE(lang_record, 24);

/* Kernel to userspace: pc of pid is in no known mapping (or pid is not known). */
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
	MAPPING_NO_TABLE = 1, /* userspace looked: there is none; walk by frame pointer */
	MAPPING_ANON = 2,     /* no file: JIT or stack code; by frame pointer */
	MAPPING_VDSO = 8,
	MAPPING_UPROBES = 16, /* "[uprobes]": where uretprobes make functions return to */
	MAPPING_WRITE = 64,   /* can be written, too */
	/* From here on 1 << enum frame_lang: the code is that language's. A file's: an interpreter's
	 * loop (LANG_LIST), what the file's table says (others). With MAPPING_ANON: what the language
	 * compiled. */
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
	__u32 max_frames;  /* of a stored stack */
	__u32 frames_mask; /* 2^n - 1, max_frames - 1 or more: `frames` holds one more than that */
	/* Offsets of kernel structs, from BTF; 0: not known, done without. */
	__u32 task_tp;    /* task_struct.thread.fsbase, arm64: thread.uw.tp_value,
	                   * which is that of the last time the thread was switched */
	__u32 task_mm;    /* task_struct.mm */
	__u32 task_utask; /* task_struct.utask */
	__u32 utask_returns; /* uprobe_task.return_instances */
	__u32 return_stack, return_addr, return_next; /* return_instance: stack, orig_ret_vaddr, next */
	/* vm_area_struct: vm_end (behind vm_start), vm_pgoff, vm_file; file: f_inode; inode:
	 * i_ino, i_sb; super_block: s_dev. Used when vma_lookup is 1. */
	__u32 vma_lookup, vma_end, vma_pgoff, vma_file, file_inode, inode_ino, inode_sb, sb_dev;
	__u32 page_shift;   /* of vm_pgoff */
	__u32 address_bits; /* arm64: of a user address: above them a return address is signed */
	__u32 vma_flags;    /* vm_area_struct: vm_flags; 0: not known */
	__u32 mm_exec_vm;   /* mm_struct: pages that are executable and not writable */
	__u32 languages;    /* 1 << enum frame_lang: all walks are of these alone (struct stack_req.filter); 0: they
	                     * are not */
};
ABI_SIZE(unwind_config, 88);

/* A language's struct STEM_proc may have a generation: a u32 that differs for two processes which
 * had the same pid. With this bit the kernel half has given it, to a process that userspace has not
 * published, and userspace keeps it. */
#define LANG_BY_KERNEL (1U << 31)

/* Map `files_by_inode`: HASH (no prealloc), key struct inode_key, value struct
 * inode_file: files whose tables are in the kernel. A walk that comes to a mapping
 * which userspace has not published yet looks it up in the kernel (bpf_find_vma), and its file here;
 * what a language needs of a file is in the map `STEM_files`. */
#define INODE_SEGMENTS 4
struct inode_key {
	__u64 inode;
	__u32 dev; /* the kernel's: major << 20 | minor */
	__u32 pad;
};
struct inode_file {
	__u32 file;      /* file id */
	__u16 n;         /* executable segments */
	__u16 languages; /* 1 << enum frame_lang, of the file's table */
	struct {
		__u64 offset, end; /* in the file; from its page's start */
		__u64 delta;       /* vaddr - file offset */
	} segment[INODE_SEGMENTS];
};
ABI_SIZE(inode_file, 8 + 24 * INODE_SEGMENTS);

/* Map `mappings`: HASH (no prealloc), key struct mapping_key, value struct
 * mapping_chunk. Chunk 0 exists for every known process; with more than
 * MAPPINGS_PER_CHUNK mappings, chunk_start[i] is the first address of chunk i and
 * the others hang on the same pid. */
#define MAPPINGS_PER_CHUNK 256
#define MAPPING_CHUNKS     32
struct mapping_key {
	__u32 pid; /* tgid */
	__u32 chunk;
};
struct mapping_chunk {
	__u32 n;                            /* mappings in this chunk */
	__u32 chunks;                       /* of the process; in chunk 0 */
	__u32 misses;                       /* counted by the kernel since the last write */
	__u32 languages;                    /* in chunk 0: 1 << enum frame_lang, of its files */
	__u32 native_file;                  /* in chunk 0: the first with a language of kind
	                                     * LANG_NATIVE; 0: none */
	/* In chunk 0: KiB of mappings without MAPPING_WRITE. The kernel counts the same: what
	 * differs has been mapped since, or the process has run another program, and may have
	 * a language that is not in languages. */
	__u32 code_kb;
	__u32 readable;                     /* 1: see READABLE_NS */
	__u32 pad;
	__u64 next_ns;                      /* CLOCK_MONOTONIC: likewise */
	__u64 chunk_start[MAPPING_CHUNKS];  /* in chunk 0, sorted */
	struct mapping map[MAPPINGS_PER_CHUNK]; /* sorted by start */
};
/* After this many misses without an answer the kernel walks on by frame pointer
 * and sends no more copies of the stack for this process. */
#define MAPPING_MISSES_MAX 192
/* The same for a process that userspace has not published yet, in bytes sent: map
 * `unknown_procs`, LRU_HASH, key: u32 tgid, value: u32. Userspace deletes the entry when it
 * publishes the process, or when that ends. */
#define UNKNOWN_BYTES_MAX (6 << 20)
/* A walk that came to a page which a program in the kernel cannot read is finished by userspace, for which the page
 * comes back; for a stack that leads nowhere it does not. So of a process one is asked for in UNREADABLE_NS, or, where
 * userspace has finished one, in READABLE_NS. */
#define UNREADABLE_NS 100000000ULL
#define READABLE_NS   8000000ULL

/* ---- tables ------------------------------------------------------------ */

/* A file id's table never changes once it is there: the kernel half remembers rules
 * by file id and address.
 *
 * Map `tables`: ARRAY_OF_MAPS by file id; each inner map an ARRAY of u64
 * (BPF_F_INNER_MAP | BPF_F_MMAPABLE), written through mmap, and the same bytes
 * are the cache file's payload. Content, as u32[]:
 *
 *     struct table_header
 *     u64 rules[nrules]          a rule, see RULE_*
 *     u32 pages[npages + 1]      index of the first row of a page, by
 *                                (vaddr - base) >> TABLE_PAGE_SHIFT
 *     u32 rows[nrows]            low bits of the address (16) << 16 | rule (16)
 *
 * The first row of every page has low bits 0: a copy of the rule in force where
 * the page begins; rows of a page ascend. Offsets are in u32 units. */
#define TABLE_MAGIC      0x74617274u /* "trat" */
#define TABLE_VERSION    5
#define TABLE_PAGE_SHIFT 10
#define TABLE_RANGES     8

enum table_flags {
	/* How ranges beside the function's own were found. */
	TABLE_BY_JUMPS = 16,
	TABLE_BY_NAMES = 32,
	TABLE_BY_SIZE = 64,
	TABLE_DISPATCHES = 128, /* an interpreter's dispatch jumps are in them */
	/* From here on 1 << enum frame_lang: the file has that language: LANG_LIST: range[] is its
	 * interpreter's loop; LANG_NATIVE: code_start.. is its code; LANG_FRAME: its builtins have
	 * RULE_LANG. */
	TABLE_LANGS_SHIFT = 16,
};
#define TABLE_LANG(lang) (1U << (TABLE_LANGS_SHIFT + (lang)))
struct table_header {
	__u32 magic, version;
	__u64 base;             /* vaddr where page 0 begins */
	__u32 flags;            /* enum table_flags */
	__u32 nrules, npages, nrows;
	__u32 rules, pages, rows; /* offsets in u32 */
	__u32 nranges;
	struct {                /* interpreter code, vaddr - base, half open */
		__u32 start, end;
	} range[TABLE_RANGES];
	__u32 code_start, code_end; /* of a language of kind LANG_NATIVE: vaddr - base, half open;
	                             * equal: none */
	__u32 own[2];               /* that language's own: see its header */
};
ABI_SIZE(table_header, 128);

/* A rule: how the CFA is made, where RA and the caller's frame pointer are; for
 * x86_64 and arm64 alike. As u64:
 *     bits  0-3   kind (enum rule_kind)
 *     bits  4-7   CFA register (enum rule_reg)
 *     bits  8-15  flags (enum rule_flags)
 *     bits 16-31  fp slot: s16, in 8-byte words from the CFA
 *     bits 32-63  CFA offset: s32, bytes (RULE_CFA_DEREF: s16 before the load in
 *                 bits 32-47, s16 added to what was loaded in 48-63)
 * An fp slot of 0 means: unchanged; with RULE_FP_AT_FP it counts from the frame
 * pointer, and 0 is a slot, too. RA is at CFA-8 on x86_64; on arm64 where flags say. A
 * row's index of RULE_NONE means no rule: the frame pointer is tried. Registers other
 * than sp and fp are known in the interrupted frame only; rbx as far as RULE_RBX says. */
enum rule_kind {
	RULE_UNKNOWN,   /* no rule here; never in a table */
	RULE_CFA,       /* CFA = reg + offset */
	RULE_CFA_DEREF, /* CFA = *(reg + offset) + offset: realigned frames, switched stacks */
	RULE_PLT,       /* CFA = sp + 8 + (((pc & 15) >= offset) << 3) */
	RULE_SIGNAL,    /* registers from the signal frame at sp */
	RULE_END,       /* the thread's first frame */
	RULE_LONGJMP,   /* glibc's: sp, fp, RA are in r8, r9, rdx; arm64: in the jmp_buf at x0, and
	                 * the latter two already where they belong, or none is yet */
	RULE_FP,        /* arm64: a function of known bounds without a rule: by frame pointer.
	                 * The offset is its size */
	RULE_LANG,      /* a frame of the mapping's language of kind LANG_FRAME: that says how it is
	                 * walked. The offset is the language's own */
	RULE_OWN,       /* this and all above: kinds of the mapping's language of kind LANG_NATIVE, see
	                 * that one's header */
};
enum rule_reg { /* x86_64; arm64 has the first two, R13, and X0. ORDER RULE_REG */
	RULE_REG_SP, RULE_REG_FP,
	RULE_REG_RAX, RULE_REG_RDX, RULE_REG_RCX, RULE_REG_RBX, RULE_REG_RSI, RULE_REG_RDI,
	RULE_REG_R8, RULE_REG_R9, RULE_REG_R10, RULE_REG_R11,
	RULE_REG_R12, RULE_REG_R13, RULE_REG_R14, RULE_REG_R15,
	RULE_REG_X0 = RULE_REG_RAX,  /* arm64: never in a rule.. */
	RULE_REG_X1 = RULE_REG_RDX,
	RULE_REG_X28 = RULE_REG_R15, /* ..and Go's g, likewise */
};
enum rule_flags {
	RULE_RA_REG = 1,   /* RA is in a register (arm64: LR; x86_64: rdi, vfork) */
	RULE_RA_SLOT = 2,  /* arm64: RA at fp slot + 8 */
	RULE_RA_ONLY = 4,  /* arm64: the slot is RA's, fp is unchanged; x86_64, with RULE_RA_REG: the slot
	                    * is the register that has it (enum rule_reg) */
	RULE_RA_X13 = RULE_RA_REG | RULE_RA_ONLY, /* arm64: in x13, for a call that leaves it
	                    * alone: glibc's setjmp (2.41) */
	RULE_FP_AT_FP = 8, /* the caller's fp is at fp + slot */
	RULE_RBX = 16,     /* x86_64: bits 56-63: slot of rbx, s8 words from the CFA (0:
	                    * unchanged), and the CFA offset has 24 bits. In files that
	                    * count a CFA from rbx: ld.so's lazy binding */
	RULE_EXACT = 32,   /* the caller was interrupted: RA is a pc about to run. arm64: by Go's
	                    * runtime, which left its LR at the CFA and its sp 16 above */
	RULE_ALTERNATE = 64, /* of tables with a row per function: neighbours that are the same
	                      * otherwise differ in this */
};
#define RULE(kind, reg, flags, slot, offset)                                             \
	((__u64)(kind) | (__u64)(reg) << 4 | (__u64)(flags) << 8 |                       \
		(__u64)(__u16)(slot) << 16 | (__u64)(__u32)(offset) << 32)
/* Its fields. The two of RULE_CFA_DEREF: before the load, and added to what was loaded. */
#define RULE_KIND(rule)     ((rule) & 15)
#define RULE_REG(rule)      ((rule) >> 4 & 15)
#define RULE_FLAGS(rule)    ((rule) >> 8 & 0xff)
#define RULE_SLOT(rule)     ((__s64)(__s16)((rule) >> 16) * 8) /* in bytes */
#define RULE_OFFSET(rule)   ((__s64)(__s32)((rule) >> 32))
#define RULE_BEFORE(rule)   ((__s64)(__s16)((rule) >> 32))
#define RULE_BEHIND(rule)   ((__s64)(__s16)((rule) >> 48))
/* With RULE_RBX: the CFA's offset of 24 bits, rbx' slot in bytes. */
#define RULE_OFFSET_24(rule) ((__s64)((rule) << 8) >> 40)
#define RULE_RBX_SLOT(rule)  (((__s64)(rule) >> 56) * 8)
#define RULE_NONE  0xffff
#define RULES_MAX  0xffff
