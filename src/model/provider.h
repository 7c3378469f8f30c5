// SPDX-License-Identifier: Apache-2.0
/* provider.h - each probe type is one row, in src/probes/NAME.c. The parser uses it to expand attach
 * points. Code generation only knows how arguments are read (enum ctx_kind). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/source.h"

struct arena;
struct attach_point;
struct check;
struct diags;
struct loaded_probe;
struct expr;
struct probe;
struct request;
struct str;
struct symbols;
struct target;
struct type;
struct types;

/* The context of a program, by the data to which it points. */
enum ctx_kind {
	CTX_NONE,       /* begin, end, interval */
	CTX_PERF,       /* struct bpf_perf_event_data */
	CTX_PT_REGS,    /* uprobe, kprobe */
	CTX_TRACEPOINT, /* the record; fields are at the offsets of tracefs' format file */
	CTX_RAW,        /* u64[] */
	CTX_ITER,       /* struct bpf_iter__NAME: metadata, then the object, which is NULL after the last one */
	CTX_TRAMPOLINE, /* fentry, fexit: helpers read arguments and result */
};

enum provider_run { RUN_ATTACHED, RUN_BEGIN, RUN_END, RUN_SIGNAL, RUN_ITER, RUN_TEST, RUN_BENCH };

/* The location of a named argument's value. */
enum field_where {
	FIELD_CONTEXT,  /* in the context, at offset; only records of tracepoints have values of more than 8 bytes */
	FIELD_DATA_LOC, /* in a tracepoint's record; the u32 at offset is length << 16 | its offset */
	FIELD_REL_LOC,  /* as FIELD_DATA_LOC, but the offset counts from the end of that u32 */
	FIELD_ARG,      /* argument number offset / 8 of the trampoline; more than 8 bytes are in two arguments */
	FIELD_REGS,     /* in two registers: bytes 0-7 at offset of the context, the other bytes at offset2 */
	FIELD_STACK,    /* in memory, at offset from the stack pointer at entry */
	FIELD_POINTED,  /* in memory, at the address in the register at offset of the context */
	FIELD_CONSTANT, /* the member value */
	FIELD_MEMORY,   /* in memory, at the address: register at offset of the context + value +
			 * scale * register at offset2 (scale 0: no second register) */
	FIELD_ADDRESS,  /* the address of FIELD_MEMORY itself */
	FIELD_NOWHERE,  /* not available, for the reason in why */
};

/* A named argument: args.NAME. */
struct field {
	const char *name;
	const struct type *type;
	enum field_where where;
	uint32_t offset, offset2;
	uint32_t scale;
	int64_t value;
	uint32_t size;  /* size of the value in bytes; for an array, of the whole array */
	const char *why; /* FIELD_NOWHERE: the reason, "it is optimised out" */
	const char *decl; /* for listings: "struct file * f"; NULL if the type says it */
	const struct field *next;
};

/* Where the arguments of a function are when it begins. */
enum place_abi {
	ABI_C,
	ABI_C32,      /* 32-bit x86: words of 4 bytes from sp + 4 on */
	ABI_GO,       /* in Go's registers */
	ABI_GO_STACK, /* Go's assembler: words from sp + 8 on */
	ABI_GO_EITHER /* Go's assembler, in a file without symbols: either of the two */
};

/* A place in the kernel or in a file to which a program is attached. An attach point with wildcards stands
 * for many. */
struct place {
	const char *name; /* the full probe name: "uprobe:/bin/bash:readline" */
	const char *func; /* function, or "" */
	const char *path; /* uprobes: the file */
	uint64_t offset;  /* uprobes: file offset */
	uint64_t ref_ctr; /* usdt: file offset of the semaphore that the kernel increments, or 0 */
	uint64_t period;  /* timers: ns, or Hz when freq; software: count */
	uint64_t config;  /* software: PERF_COUNT_SW_*; tracepoint: id */
	bool freq;
	bool alone;       /* kprobe with an offset: it cannot be on a multi link */
	bool by_address;  /* kprobe: offset is a kernel address */
	enum place_abi abi;
	bool of_others;   /* other tasks than the current one cause its events, too */
	uint8_t skip;     /* uprobes: bytes from offset to the instruction that is probed, see uprobe_skip() */
	bool at_return;   /* uretprobe: offset is the address of a return instruction */
	const struct field *fields; /* tracepoints, fentry */
	const struct type *ret;     /* type of retval if it is known; NULL for int64 */
	const char *ret_decl;       /* for listings: "int retval"; or NULL */
	struct place *next;
};

struct provider {
	const char *name;       /* "uprobe" */
	const char *short_name; /* "u" or NULL */
	const char *alias;      /* another name: "kfunc"; or NULL */
	const char *form;       /* "uprobe:PATH:FUNCTION[+OFFSET]", for the help */
	const char *help;
	enum ctx_kind ctx;
	uint32_t prog_type;   /* BPF_PROG_TYPE_* */
	uint32_t attach_type; /* BPF_TRACE_FENTRY.. or 0 */
	uint32_t multi_type;  /* type of one link to many places: BPF_TRACE_UPROBE_MULTI.. */
	int multi_feature;    /* enum feature: whether the kernel has such links */
	const char *section;  /* ELF section of the programs */
	bool kernel;          /* arguments on a stack are on the kernel's stack */
	bool has_args;        /* has argN */
	bool has_retval;
	bool has_fields;      /* has args.x */
	bool args_are_fields; /* argN are fields of the places with these names */
	bool may_sleep;       /* the kernel lets the programs wait for a page of the process */
	bool any_process;     /* fires in unrelated processes, so -p and -c do not filter it */
	bool samples;         /* its runs stand for a time: config thin */
	bool counts_runs;     /* the programs count their runs in IMAGE_TICKS */
	bool newest_first;    /* of several programs at one place, the kernel runs the last attached one first */
	unsigned multi_newest_first; /* the same for multi links, since this kernel: 6 << 16 | 14 << 8 */
	enum provider_run run; /* how the session runs it, if it is not attached to a place */
	/* Fills ap->places from ap->words, in the arena. Returns false after an error at ap's spans.
	 * Finding nothing is an error unless req->listing is set. */
	bool (*expand)(const struct request *req, struct attach_point *ap);
	/* Attaches the programs of one body, see probes/attach.h. Returns 0 on success; prints an error and
	 * returns -errno on failure. */
	int (*attach)(struct loaded_probe *p);
	/* For -l without a type: calls found() with the full name of each probe that matches the pattern.
	 * NULL if another provider lists the same probes, or if there is no list. */
	int (*list)(const struct request *req, const char *pattern,
		void (*found)(const char *name, void *arg), void *arg);
	/* For -l: the names that may follow "NAME:", if they are a short list; it ends with NULL. May be
	 * NULL. */
	const char *const *names;
	bool file;            /* the second word is a program or library */
	bool finite;          /* all places can be listed, so that -l '*:NAME' looks here, too */
	/* Returns the reason why nothing can be attached on this kernel, or NULL if it can be or the answer
	 * is unknown. */
	const char *(*lacks)(struct target *target);
};

/* All probe types in alphabetical order; ends with NULL. See probes/probes.def. */
extern const struct provider *const providers[];

/* Returns the provider whose name, short name or alias is name[0..len), in any case, or NULL if there is
 * none. list has the form of providers. */
const struct provider *provider_by_name(
	const struct provider *const *list, const char *name, size_t len);
