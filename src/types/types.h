// SPDX-License-Identifier: Apache-2.0
/* types.h - named types: from the script's C part, from the traced program's DWARF, and from the kernel's
 * BTF.
 *
 * A source is opened for the first name that no earlier source has, so a script without names of types pays
 * nothing. Types live in the arena of the compilation. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "model/type.h"

struct arena;
struct diags;
struct target;
struct types;

enum type_tag {
	TAG_NAME, /* a typedef, or a C type of one word */
	TAG_STRUCT,
	TAG_UNION,
	TAG_ENUM,
};

struct types *types_new(struct arena *a, struct target *t);
/* Closes libraries and files. Types that were found stay valid. */
void types_close(struct types *ts);

/* Returns the type of that name, or NULL if no source has it. A struct that one source only declares is
 * looked up in the next. */
const struct type *types_find(struct types *ts, enum type_tag tag, const char *name);
/* Returns the complete struct of the same name for an incomplete one; else returns t itself. */
const struct type *types_complete(struct types *ts, const struct type *t);
/* Makes a struct as the target of a pointer, which types_complete() looks up when it is needed: "struct
 * file", or a typedef's name. */
const struct type *types_later(struct arena *a, const char *name);
/* Makes "struct NAME" or "union NAME" of that size. Its members are looked up at the first use. It is
 * incomplete if no source has it with that size. */
const struct type *types_sized(struct types *ts, const char *name, uint32_t size);
/* Makes an integer of "enum NAME", whose names are looked up at the first use. */
const struct type *types_enum(struct types *ts, const char *name, uint32_t size, bool is_signed);
/* An enumerator, or a #define of the C part. */
struct constant {
	const struct type *type; /* an INT, perhaps an enum's, or a STRING */
	uint64_t value;
	const char *text;        /* text of a string */
	enum origin origin;      /* KERNEL: another kernel may have another value */
};
bool types_constant(struct types *ts, const char *name, struct constant *ret);
/* Returns the first kernel header that the C part includes and this machine lacks, or NULL. Well-known
 * constants are found without headers. */
const char *types_missing_header(const struct types *ts);
/* Returns whether a C part has types that another machine may lay out in another way: those of headers, and of BTF. */
bool types_c_is_bound(const struct types *ts);
/* Returns the most similar name, for "did you mean": "struct task_struct", or NULL. */
const char *types_nearest(struct types *ts, enum type_tag tag, const char *name);
/* Returns all names that match a pattern, sorted; the list ends with NULL. Unnamed types are left out. */
const char *const *types_names(struct types *ts, enum type_tag tag, const char *pattern);
/* "struct "; "" for a typedef. */
extern const char *const type_tag_words[];

/* Options for the C part. */
struct c_options {
	const char *const *dirs;  /* of -I: the first directories in which headers are searched */
	const char *const *files; /* of --include: files to read before the C part */
	unsigned ndirs, nfiles;
	const char *kernel_source, *kernel_build; /* directories of the kernel's headers; NULL for the usual places */
};

/* This macro is defined in a script's C part if the kernel has BTF. */
#define TYPES_HAVE_BTF "BPFTRACE_HAVE_BTF"
bool types_has_btf(const struct types *ts);

/* Adds the types and constants of a script's C part, before those of all other sources. Opens libclang;
 * does nothing without a C part and without a file to include. Returns false after an error, which has been
 * reported. */
bool types_add_c(struct types *ts, struct diags *d, const struct source *src, struct span part,
	const struct c_options *opt);
/* Adds the types, constants and functions of a program in C, which is an imported file (.bpf.c). Returns
 * false after an error message. */
bool types_add_c_program(struct types *ts, struct diags *d, const struct source *src, struct span file,
	const struct c_options *opt);

enum { C_PARAMS_MAX = 5 }; /* the most parameters of a BPF function */
#define C_CALL "strata_c_" /* + NAME: the function that only takes and returns u64 and calls NAME */

struct c_function {
	const char *name;
	const struct type *result; /* type_none for void */
	unsigned n;                /* may be more than C_PARAMS_MAX, the number of types kept */
	const struct type *params[C_PARAMS_MAX];
};
/* Returns a function of an imported program, and marks it as called by the script. Returns NULL if no
 * program defines it. */
const struct c_function *types_function(struct types *ts, const char *name);

struct c_object {
	const char *name;
	void *data; /* an ELF with BPF, in the arena */
	size_t size;
};
/* Compiles the programs whose functions are called. Returns false after an error message. */
bool types_compile(struct types *ts, struct arena *a, struct c_object **ret, unsigned *ret_n);
/* Returns the replacement of a macro of the C part that is not a constant, with the macros in it replaced:
 * "curtask->pid". Returns NULL if there is no such macro, or it has parameters. The replacement may be
 * empty. */
const char *types_macro(struct types *ts, const char *name);
