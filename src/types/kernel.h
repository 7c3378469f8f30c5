// SPDX-License-Identifier: Apache-2.0
/* kernel.h - the kernel's functions and tracepoints with the types of their arguments, from BTF. */
#pragma once
#include <stdbool.h>

#include "model/type.h"
#include "types.h"

struct str;

struct kernel_param {
	const char *name;        /* "" if BTF does not name it */
	const struct type *type; /* type_none for a kind that the model lacks; for a result also for void */
	const char *decl;        /* "struct file * f", for listings */
};

struct kernel_function {
	const struct kernel_param *params;
	unsigned nparams;
	struct kernel_param ret; /* its name is "retval" */
};

/* Reads a function of a module, or of "vmlinux". Sets decl only if `decl` is set. Returns false if BTF has
 * no such function. */
bool kernel_function(struct types *ts, const char *module, const char *name, bool decl,
	struct kernel_function *ret);
/* Reads the arguments that a tracepoint of a module, or of "vmlinux", passes to programs of raw
 * tracepoints: context word i is parameter i. ret is void. */
bool kernel_tracepoint(struct types *ts, const char *module, const char *event, bool decl,
	struct kernel_function *ret);

/* Writes "vmlinux: struct list_head {", one line per member, "};", as bpftrace lists it: in C with the
 * names of typedefs, after "vmlinux" or the module's name. offsets: comments show the offset and size of
 * members, in bytes; of a bit-field BYTE:BIT. Returns false if the kernel has no such type. */
bool kernel_define(struct types *ts, enum type_tag tag, const char *name, bool offsets, struct str *out);
