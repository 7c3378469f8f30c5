/* SPDX-License-Identifier: Apache-2.0 */
/* cpart.h - what the readers of a script's C part share.
 *
 * clang reads a file that begins as the script does, so that positions are the script's; behind the C
 * part come declarations for the names that the script uses (cpart_constants.c). What clang misses and
 * the kernel's BTF has (cpart_btf.c) is put into a header, and clang reads once more. */
#pragma once
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "clang.h"
#include "source.h"

#define CPART_DIR       "/strata-headers" /* no real one: clang is given its files */
#define CPART_BTF       CPART_DIR "/btf.h"
#define CPART_VALUE     "strata_value_"   /* + NAME: a variable that has the macro's value */
#define CPART_TEXT      "strata_text_"    /* + NAME: a string that has its text */

struct diags;
struct decl_table;

struct cpart_name {
	enum type_tag tag;
	const char *name;
	bool constant; /* an enumerator; tag means nothing */
};

struct cpart {
	struct types *types;
	struct target *target;
	struct arena *arena; /* the types' */
	struct diags *diags;
	const struct source *source;
	struct span part;
	const struct c_options *options;
	bool is_program;     /* an imported file of functions, which the script calls */
	struct clang clang;
	void *index, *unit;
	const char *file;    /* the main one's name */
	struct str text;     /* the main file */
	struct str btf;      /* the text of CPART_BTF */
	bool has_kernel;     /* there are headers of the kernel */
	bool reads_headers;
	const char *included; /* the first header that is, by its name, the kernel's */
	VEC(const char *) args;
	VEC(const char *) kernel_dirs;
	VEC(const char *) missing;       /* names of headers that are passed over */
	VEC(struct cx_unsaved) files;
	VEC(struct cpart_name) wanted;   /* what the kernel's BTF is asked for */
	struct decl_table *decls;        /* NULL until the first name is looked up */
	VEC(const struct c_function *) called;
};

/* Where a message about the whole part is shown. */
struct span cpart_first_line(const struct cpart *c);

/* cpart_paths.c: the arguments of clang, and the headers that come with strata. */
void cpart_set_args(struct cpart *c);
/* Is it, by its name, a header of the kernel, or one whose constants are known? */
bool cpart_is_kernel_header(const char *name);
bool cpart_in_kernel_dir(const struct cpart *c, const char *path);

/* cpart_includes.c: are the files that the part includes regular ones? Reports those that are not. */
bool cpart_includes_files(struct cpart *c);

/* cpart_btf.c: the wanted names in C, as BTF has them; those that it lacks are left out. */
void cpart_print_btf(struct cpart *c);

/* cpart_errors.c */
/* Looks for what is missing in the last reading and adds it to missing and wanted. True: something was
 * added, and clang has to read again. */
bool cpart_add_missing(struct cpart *c);
/* Reports the last reading's errors. */
void cpart_report(struct cpart *c);

/* cpart_constants.c */
/* Adds the declarations behind the C part to the text. */
void cpart_add_words(struct cpart *c);
bool cpart_constant(void *state, const char *name, struct constant *ret);
const char *cpart_macro(void *state, const char *name);

/* cpart_plain.c: makes the macros of a part known that needs no compiler; false: this one does. */
bool cpart_plain(struct types *ts, const struct source *src, struct span part);

/* cpart_decls.c: what is declared, by name. */
struct decl {
	struct cpart *part;
	struct cx_cursor cursor; /* the definition, where there is one */
	int kind;                /* enum cx_cursor_kind */
	const char *name;        /* "": it has none */
	const struct type *type; /* NULL: not made yet */
	uint32_t weight;         /* of a struct: its members, and those of the structs in it; 0: not counted yet */
	struct decl *same_name, *same_cursor;
};
/* kind: enum cx_cursor_kind */
struct decl *decl_find(struct cpart *c, int kind, const char *name);
/* The declaration of a struct, union or enum that a type is of. */
struct decl *decl_of(struct cpart *c, struct cx_cursor cursor, int kind);
void decls_free(struct cpart *c);
/* clang's string in the arena. */
const char *cpart_string(struct cpart *c, struct cx_string s);

/* cpart_program.c: the functions of a program. */
const struct c_function *cpart_function(void *state, const char *name);
/* Compiles them, if any is called. False after an error message. */
bool cpart_compile(void *state, struct c_object *ret);

/* cpart_types.c */
const struct type *cpart_type(struct cpart *c, struct cx_type t);
const struct type *cpart_find(void *state, enum type_tag tag, const char *name);
void cpart_names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg);
