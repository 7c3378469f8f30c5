// SPDX-License-Identifier: Apache-2.0
/* types.h - named types: the script's own, in C; the traced program's, by DWARF; the kernel's, by BTF.
 *
 * A source is opened when the first name is looked up that no source before it has: a script that
 * names no type pays nothing. Types live in the arena of the compilation. */
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
	TAG_NAME, /* a typedef, or a type of C that has one word */
	TAG_STRUCT,
	TAG_UNION,
	TAG_ENUM,
};

struct types *types_new(struct arena *a, struct target *t);
/* Closes libraries and files; types that were found stay. */
void types_close(struct types *ts);

/* The type of that name; NULL: no source has it. A struct that is only declared in one source is
 * looked for in the next. */
const struct type *types_find(struct types *ts, enum type_tag tag, const char *name);
/* The same for a struct that is incomplete: the complete one of its name, or t itself. */
const struct type *types_complete(struct types *ts, const struct type *t);
/* A struct to be looked up by types_complete() when it is needed, for what a pointer points to: "struct
 * file", or a typedef's name. */
const struct type *types_later(struct arena *a, const char *name);
/* "struct NAME" or "union NAME" of that size, whose members are looked up at the first use; it is
 * incomplete where no source has it with that size. */
const struct type *types_sized(struct types *ts, const char *name, uint32_t size);
/* An integer of "enum NAME", whose names are looked up when they are needed. */
const struct type *types_enum(struct types *ts, const char *name, uint32_t size, bool is_signed);
/* An enumerator, or what a #define of the C part stands for. */
struct constant {
	const struct type *type; /* an INT, an enum's; or a STRING */
	uint64_t value;
	const char *text;        /* of a string */
};
bool types_constant(struct types *ts, const char *name, struct constant *ret);
/* The first header of the kernel that the C part wants and this machine lacks, or NULL. Constants that are well
 * known are found without. */
const char *types_missing_header(const struct types *ts);
/* The name most like it, for "did you mean": "struct task_struct"; NULL. */
const char *types_nearest(struct types *ts, enum type_tag tag, const char *name);
/* All names that match a pattern, sorted, NULL-terminated; unnamed ones have none. */
const char *const *types_names(struct types *ts, enum type_tag tag, const char *pattern);
/* "struct ", "" of a typedef. */
extern const char *const type_tag_words[];

/* Options of the C part. */
struct c_options {
	const char *const *dirs;  /* of -I, where headers are looked for first */
	const char *const *files; /* of --include, read before the C part */
	unsigned ndirs, nfiles;
	const char *kernel_source, *kernel_build; /* where the kernel's headers are; NULL: the usual places */
};

/* The kernel says its types; then this macro is defined in a script's C part. */
#define TYPES_HAVE_BTF "BPFTRACE_HAVE_BTF"
bool types_has_btf(const struct types *ts);

/* Makes the types and constants of a script's C part known, before those of all other sources. Opens
 * libclang; does nothing when there is neither a C part nor a file to include. false: there was an
 * error, and has been reported. */
bool types_add_c(struct types *ts, struct diags *d, const struct source *src, struct span part,
	const struct c_options *opt);
/* Makes the types, constants and functions of a program in C known, which is an imported file (.bpf.c). Returns false
 * after an error message. */
bool types_add_c_program(struct types *ts, struct diags *d, const struct source *src, struct span file,
	const struct c_options *opt);

enum { C_PARAMS_MAX = 5 }; /* of a BPF function */
#define C_CALL "strata_c_" /* + NAME: the function that takes and returns only u64 and calls NAME */

struct c_function {
	const char *name;
	const struct type *result; /* type_none: void */
	unsigned n;                /* may be more than C_PARAMS_MAX, of which there are types */
	const struct type *params[C_PARAMS_MAX];
};
/* Returns the function of an imported program, which is then one that the script calls; NULL: no program defines it. */
const struct c_function *types_function(struct types *ts, const char *name);

struct c_object {
	const char *name;
	void *data; /* BPF ELF, in the arena */
	size_t size;
};
/* Compiles the programs whose functions are called. Returns false after an error message. */
bool types_compile(struct types *ts, struct arena *a, struct c_object **ret, unsigned *ret_n);
/* What a macro of the C part that is no constant stands for, with the macros in it replaced:
 * "curtask->pid"; NULL: there is no such macro, or it takes arguments. It may be empty. */
const char *types_macro(struct types *ts, const char *name);
