/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* ruby.h - the interface between src/unwinders/ruby/ and bpf/lang/ruby.bpf.c.
 *
 * CRuby keeps a control frame for each call at the end of the thread's (or fiber's) own stack, the newest lowest; the
 * execution context (ec), a thread-local variable, points to it. One vm_exec_core() in C runs the frames up to the
 * first with VM_FRAME_FLAG_FINISH. Functions in C have a control frame, too, which no loop runs. An exception ends the
 * loop by longjmp() to vm_exec(), which looks for the code that rescues it and begins another loop for the same frames.
 *
 * The collector frees an object only if a collection, which begins after the object was last used, does not mark it:
 * a minor one for young objects, a major one for old ones. While a collection marks, it may have passed an object of
 * a frame already; a later one has not.
 *
 * A frame leads to the entry of its method, which has the class that the method was defined in: an iseq has two names
 * if two classes have its method (dup, module_function).
 *
 * Layouts of ruby at tags v2.7.4 to v4.0.0, the same except for the members of struct ruby_layout: ruby/vm_core.h
 * (rb_execution_context_t, rb_control_frame_t, VM_FRAME_*, rb_iseq_constant_body), include/ruby/internal/core/rstring.h
 * and rarray.h, gc.c (from 3.4 on gc/default/default.c; struct rb_objspace, enum gc_mode),
 * ruby/method.h (rb_callable_method_entry_t), ruby/internal/class.h (rb_classext_struct, from 3.3 on).
 * Offsets in bytes. */
#pragma once
#include "bpf/walk/unwind.h"

/* Offsets that differ between versions: rows of src/unwinders/ruby/ruby.c. */
struct ruby_layout {
	__u16 frame_size;  /* bytes of a control frame */
	__u16 str_embed;   /* RString: bytes of an embedded string; 16: its length is in the flags */
	__u16 insns;       /* iseq body: insns_info.body */
	__u16 insns_size;  /* number of its entries */
	__u16 insns_index; /* succ_index_table */
	__u16 entry_size;  /* bytes of an entry */
	__u16 local;       /* local_iseq; parent_iseq is the word before it */
	__u16 attached;    /* class: the object whose singleton class it is */
	__u16 path;        /* class: classpath; bit 40 of the word before: permanent_classpath; 0: no fixed place */
	__u8 singleton;    /* class: the flags' bit of a singleton class */
	__u8 is_merged;    /* a rescue or ensure stands for its method, as from 3.4 on */
	__u8 line_tag;     /* low bits of location.first_lineno that are a tag: 1 if it is a Fixnum */
	__u8 hides_internal; /* methods in <internal:..> have no place of their own, as from 4.0 on */
	__u8 old;          /* the flags' bits of an object that only a major collection frees */
	__u8 major;        /* the word of gc_counts with the number of major collections, after that of minor ones */
};

#define RUBY_COUNTS 8 /* words of rb_objspace_t up to the number of collections: enough for the number of major ones */

#define RUBY_EC_GLOBAL  255
#define RUBY_PUSHES     128 /* a power of 2; Debian's 2.7.4 has 67 */
#define RUBY_PUSH_BITS  9
#define RUBY_PUSH_SIZE  ((1 << RUBY_PUSH_BITS) - 1)
#define RUBY_PUSH_SPAN  ((1 << (32 - RUBY_PUSH_BITS)) - 2)
#define RUBY_EXEC_PARTS 2 /* the function, and the part that the compiler has moved away */

/* One process. Map `ruby_procs`: HASH, key: u32 tgid. Nothing here changes while the process runs.
 *
 * Map `ruby_files`: HASH, key: u32 file; the same struct with the file's own addresses, for processes that
 * userspace has not published yet. */
struct ruby_proc {
	__u64 ec_at;   /* place of ruby_current_ec, by enum python_tls_kind; ec_kind 0: unknown, stacks are marked;
	                * RUBY_EC_GLOBAL: address of a pointer, up to 2.7 */
	__s32 ec_add;
	__u32 ec_kind;
	__u64 symbols; /* address of ruby_global_symbols; 0: unknown, functions in C have no names */
	__u64 last_op; /* the last ID of an operator, whose ID is its number */
	__u64 exec[RUBY_EXEC_PARTS]; /* addresses of vm_exec(), which calls the loop; 0: unknown */
	__u32 exec_size[RUBY_EXEC_PARTS];
	struct ruby_layout at;
	__u64 vm;     /* address of the pointer to the VM; 0: unknown, as are the three members below */
	__u32 heap;   /* rb_vm_t: pointer to the heap's rb_objspace_t */
	__u16 gc_flags; /* rb_objspace_t: the byte with the mode, in its low bits */
	__u16 gc_counts; /* RUBY_COUNTS words; the last one is the number of collections that have begun */
	__u64 pushes; /* address to which push[] is relative; 0: there are none, and push[] is not valid */
	__u32 push[RUBY_PUSHES]; /* instructions that write the newest frame, up to 2.7: the offset of the first <<
	                          * RUBY_PUSH_BITS | bytes, ascending; all bits: none */
};
ABI_SIZE(ruby_proc, 104 + 4 * RUBY_PUSHES);

/* Frames: code id << 20 | position in the instructions, in words. */
#define RUBY_CODE_BITS 40
#define FRAME_RUBY(code, at) FRAME_OF(FRAME_LANG_RUBY, (__u64)(code) << 20 | ((at) & 0xfffff))

/* Record of a code object (iseq) of one class, sent before any stack that shows it. */
#define RUBY_NAME_MAX 512
#define RUBY_FILE_MAX 1024

enum ruby_code_flags {
	RUBY_UNREADABLE = 1, /* only pid, addr and code are set: userspace reads the process */
};
enum ruby_code_kind {
	RUBY_SINGLETON = 1, /* Class.method; else Class#method */
	RUBY_BLOCK = 2,     /* a block in the method: name is the method's */
};
struct ruby_code_record {
	struct lang_record head; /* time: 0 */
	__u64 code;  /* id: a hash of all members below but addr, or of pid and addr if unreadable */
	__u64 addr;  /* address of the iseq, whose lines userspace reads; | 1: the method entry of a C function */
	__u32 flags; /* enum ruby_code_flags */
	__u32 first_line;
	__u32 size;  /* number of words of its instructions */
	__u32 name_size, class_size, file_size; /* bytes, cut at the limits */
	__u32 kind;   /* enum ruby_code_kind */
	__u32 levels; /* RUBY_BLOCK: of blocks in blocks */
	__u64 name[RUBY_NAME_MAX / 8];  /* the label: "block in price"; of the method, if at.is_merged */
	__u64 class[RUBY_NAME_MAX / 8]; /* the name of its class; size 0: unknown, or not a method */
	__u64 file[RUBY_FILE_MAX / 8];  /* size 0: a C function; only the used part is sent */
};
ABI_SIZE(ruby_code_record, 72 + 2 * RUBY_NAME_MAX + RUBY_FILE_MAX);
