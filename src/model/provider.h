// SPDX-License-Identifier: Apache-2.0
/* provider.h - a probe type is one row, in src/probes/NAME.c. The parser expands attach
 * points with it; code generation knows only how its arguments are read (enum ctx_kind). */
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

/* What a program's context points to. */
enum ctx_kind {
	CTX_NONE,       /* begin, end, interval */
	CTX_PERF,       /* struct bpf_perf_event_data */
	CTX_PT_REGS,    /* uprobe, kprobe */
	CTX_TRACEPOINT, /* the record: fields at the offsets of tracefs' format file */
	CTX_RAW,        /* u64[] */
	CTX_ITER,       /* struct bpf_iter__NAME: behind the metadata the object, NULL when there are no more */
	CTX_TRAMPOLINE, /* fentry, fexit: arguments and result are read by helpers */
};

enum provider_run { RUN_ATTACHED, RUN_BEGIN, RUN_END, RUN_SIGNAL, RUN_ITER, RUN_TEST, RUN_BENCH };

/* Where the value of a named argument is. */
enum field_where {
	FIELD_CONTEXT,  /* in the context, at offset; of more than 8 bytes: tracepoints' records */
	FIELD_DATA_LOC, /* in a tracepoint's record; the u32 at offset is length << 16 | its offset */
	FIELD_REL_LOC,  /* likewise, its offset from behind that u32 */
	FIELD_ARG,      /* the trampoline's argument of number offset / 8; of more than 8 bytes two */
	FIELD_REGS,     /* in two registers: bytes 0-7 at offset of the context, the rest at offset2 */
	FIELD_STACK,    /* in memory, at offset from the stack pointer at entry */
	FIELD_POINTED,  /* in memory, where the register at offset of the context points to */
	FIELD_CONSTANT, /* value */
	FIELD_MEMORY,   /* in memory, at the register at offset of the context + value + scale * the one at
			 * offset2 (scale 0: without it) */
	FIELD_ADDRESS,  /* that address itself */
	FIELD_NOWHERE,  /* not there: why says it */
};

/* A named argument: args.NAME. */
struct field {
	const char *name;
	const struct type *type;
	enum field_where where;
	uint32_t offset, offset2;
	uint32_t scale;
	int64_t value;
	uint32_t size;  /* bytes there; arrays whole */
	const char *why; /* FIELD_NOWHERE: "it is optimised out" */
	const char *decl; /* for listings: "struct file * f"; NULL: by type */
	const struct field *next;
};

/* Where a function's arguments are when it begins. */
enum place_abi {
	ABI_C,
	ABI_C32,      /* of 32-bit x86: words of 4 bytes from sp + 4 on */
	ABI_GO,       /* in Go's registers */
	ABI_GO_STACK, /* Go's assembler: words from sp + 8 on */
	ABI_GO_EITHER /* Go's assembler, in a file without symbols: one of the two */
};

/* A place in the kernel or in a file that a program is attached to: an attach point with wildcards
 * stands for many. */
struct place {
	const char *name; /* the full probe name: "uprobe:/bin/bash:readline" */
	const char *func; /* or "" */
	const char *path; /* uprobes: the file */
	uint64_t offset;  /* uprobes: file offset */
	uint64_t ref_ctr; /* usdt: file offset of the semaphore, which the kernel counts up; or 0 */
	uint64_t period;  /* timers: ns, or Hz when freq; software: count */
	uint64_t config;  /* software: PERF_COUNT_SW_*; tracepoint: id */
	bool freq;
	bool alone;       /* kprobe with an offset: cannot be on a multi link */
	bool by_address;  /* kprobe: offset is an address of the kernel's */
	enum place_abi abi;
	bool of_others;   /* its events are not the current task's alone */
	bool at_return;   /* of uretprobe: the address of a return instruction */
	const struct field *fields; /* tracepoints, fentry */
	const struct type *ret;     /* of retval, where it is known; or NULL: int64 */
	const char *ret_decl;       /* for listings: "int retval"; or NULL */
	struct place *next;
};

struct provider {
	const char *name;       /* "uprobe" */
	const char *short_name; /* "u" or NULL */
	const char *alias;      /* another name: "kfunc"; or NULL */
	const char *form;       /* "uprobe:PATH:FUNCTION[+OFFSET]" */
	const char *help;
	enum ctx_kind ctx;
	uint32_t prog_type;   /* BPF_PROG_TYPE_* */
	uint32_t attach_type; /* BPF_TRACE_FENTRY.. or 0 */
	uint32_t multi_type;  /* for one link to many places: BPF_TRACE_UPROBE_MULTI.. */
	int multi_feature;    /* enum feature: the kernel has such links */
	const char *section;  /* ELF section of its programs */
	bool kernel;          /* arguments that lie on a stack are on the kernel's */
	bool has_args;        /* argN */
	bool has_retval;
	bool has_fields;      /* args.x */
	bool args_are_fields; /* argN are the places' fields of these names */
	bool may_sleep;       /* the kernel lets its programs wait for a page of the process */
	bool any_process;     /* fires in unrelated processes: -p and -c do not filter it */
	bool counts_runs;     /* its programs do, in IMAGE_TICKS */
	bool newest_first;    /* of several programs at one place the kernel runs the last attached first */
	unsigned multi_newest_first; /* likewise of multi links, from this kernel on: 6 << 16 | 14 << 8 */
	enum provider_run run; /* run by the session itself, attached nowhere */
	/* Fills ap->places from ap->words, in the arena. False after an error at ap's spans; that
	 * nothing was found is one unless req->listing. */
	bool (*expand)(const struct request *req, struct attach_point *ap);
	/* Attaches the programs of one body, see probes/attach.h. 0 or -errno, after a message. */
	int (*attach)(struct loaded_probe *p);
	/* For -l without a type: every probe matching the pattern is passed on as its full name.
	 * NULL: another provider lists the same, or there is no list. */
	int (*list)(const struct request *req, const char *pattern,
		void (*found)(const char *name, void *arg), void *arg);
	/* For -l: what may follow "NAME:", where that is a short list; ends with NULL. Or NULL. */
	const char *const *names;
	bool file;            /* its second word is a program or library */
	bool finite;          /* all its places can be listed, so that -l '*:NAME' looks here, too */
	/* Why nothing can be attached on this kernel; NULL: it can be, or that is unknown. */
	const char *(*lacks)(struct target *target);
};

/* All of them, alphabetical, ends with NULL. In probes/probes.c. */
extern const struct provider *const providers[];

/* The provider whose name, short name or alias is name[0..len), in any case; NULL: there is none.
 * list: as providers. */
const struct provider *provider_by_name(
	const struct provider *const *list, const char *name, size_t len);
