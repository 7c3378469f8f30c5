// SPDX-License-Identifier: Apache-2.0
/* kernel.h - the functions and tracepoints of the kernel with the types of their arguments, by BTF. */
#pragma once
#include <stdbool.h>

#include "model/type.h"
#include "types.h"

struct str;

struct kernel_param {
	const char *name;        /* "": BTF has none */
	const struct type *type; /* type_none: of a kind that the model has not; or void, of a result */
	const char *decl;        /* "struct file * f", for listings */
};

struct kernel_function {
	const struct kernel_param *params;
	unsigned nparams;
	struct kernel_param ret; /* its name is "retval" */
};

/* The function of a module, or of "vmlinux"; decl only if wanted. False: BTF has none of that name. */
bool kernel_function(struct types *ts, const char *module, const char *name, bool decl,
	struct kernel_function *ret);
/* What a tracepoint of a module, or of "vmlinux", passes to raw tracepoints' programs: context word i is
 * parameter i. ret is void. */
bool kernel_tracepoint(struct types *ts, const char *module, const char *event, bool decl,
	struct kernel_function *ret);

/* "vmlinux: struct list_head {", a line a member, "};", as bpftrace lists it: in C, with the typedefs'
 * names; vmlinux or the module that has it. offsets: comments say where members are and how large, in
 * bytes; of a bit-field BYTE:BIT. False: the kernel has no such type. */
bool kernel_define(struct types *ts, enum type_tag tag, const char *name, bool offsets, struct str *out);
