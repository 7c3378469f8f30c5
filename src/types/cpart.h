/* SPDX-License-Identifier: Apache-2.0 */
/* cpart.h - shared by the readers of a script's C part.
 *
 * clang reads a file that begins like the script, so that positions are the script's. After the C part, it has
 * declarations for the names that the script uses (cpart_constants.c). Types that clang misses and the kernel's
 * BTF has (cpart_btf.c) are put into a header, and clang reads again. */
#pragma once
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "clang.h"
#include "source.h"

#define CPART_DIR       "/strata-headers" /* not a real directory: strata gives its files to clang */
#define CPART_BTF       CPART_DIR "/btf.h"
#define CPART_VALUE     "strata_value_"   /* + NAME: a variable with the macro's value */
#define CPART_TEXT      "strata_text_"    /* + NAME: a string with the macro's text */

struct diags;
struct decl_table;

struct cpart_name {
	enum type_tag tag;
	const char *name;
	bool constant; /* an enumerator; tag has no meaning */
};

struct cpart {
	struct types *types;
	struct target *target;
	struct arena *arena; /* the arena of the types */
	struct diags *diags;
	const struct source *source;
	struct span part;
	const struct c_options *options;
	bool is_program;     /* an imported file of functions that the script calls */
	struct clang clang;
	void *index, *unit;
	const char *file;    /* name of the main file */
	struct str text;     /* text of the main file */
	struct str btf;      /* text of CPART_BTF */
	bool has_kernel;     /* headers of the kernel were found */
	bool reads_headers;
	const char *included; /* first header whose name is one of the kernel's */
	VEC(const char *) args;
	VEC(const char *) kernel_dirs;
	VEC(const char *) missing;       /* names of headers that are skipped */
	VEC(struct cx_unsaved) files;
	VEC(struct cpart_name) wanted;   /* names to look up in the kernel's BTF */
	struct decl_table *decls;        /* NULL before the first lookup of a name */
	VEC(const struct c_function *) called;
};

/* Returns the place for messages about the whole part. */
struct span cpart_first_line(const struct cpart *c);

/* In cpart_paths.c: sets the arguments of clang, and the headers that come with strata. */
void cpart_set_args(struct cpart *c);
/* Returns whether the name is that of a kernel header, or of a header whose constants are known. */
bool cpart_is_kernel_header(const char *name);
bool cpart_in_kernel_dir(const struct cpart *c, const char *path);

/* In cpart_includes.c: checks that the files that the part includes are regular ones. Reports others. */
bool cpart_includes_files(struct cpart *c);

/* In cpart_btf.c: prints the wanted names in C, from BTF. Names that BTF lacks are left out. */
void cpart_print_btf(struct cpart *c);

/* Functions of cpart_errors.c. */
/* Looks for missing names in the last reading and adds them to missing and wanted. Returns true if it added
 * any, so that clang has to read again. */
bool cpart_add_missing(struct cpart *c);
/* Reports the errors of the last reading. */
void cpart_report(struct cpart *c);

/* Functions of cpart_constants.c. */
/* Adds the declarations after the C part to the text. */
void cpart_add_words(struct cpart *c);
bool cpart_constant(void *state, const char *name, struct constant *ret);
const char *cpart_macro(void *state, const char *name);

/* In cpart_plain.c: handles a part that needs no compiler, since it only has macros. Returns false for
 * other parts. */
bool cpart_plain(struct types *ts, const struct source *src, struct span part);

/* In cpart_decls.c: a declaration, found by name. */
struct decl {
	struct cpart *part;
	struct cx_cursor cursor; /* the definition, if there is one */
	int kind;                /* enum cx_cursor_kind */
	const char *name;        /* "" for an unnamed one */
	const struct type *type; /* NULL until made */
	uint32_t weight;         /* number of members of a struct and of structs in it; 0 until counted */
	struct decl *same_name, *same_cursor;
};
/* kind is an enum cx_cursor_kind. */
struct decl *decl_find(struct cpart *c, int kind, const char *name);
/* Returns the declaration of the struct, union or enum of a type. */
struct decl *decl_of(struct cpart *c, struct cx_cursor cursor, int kind);
void decls_free(struct cpart *c);
/* Copies clang's string to the arena. */
const char *cpart_string(struct cpart *c, struct cx_string s);

/* In cpart_program.c: finds a function of a program. */
const struct c_function *cpart_function(void *state, const char *name);
/* Compiles the functions, if any is called. Returns false after an error message. */
bool cpart_compile(void *state, struct c_object *ret);

/* In cpart_types.c: converts a type of clang's. */
const struct type *cpart_type(struct cpart *c, struct cx_type t);
const struct type *cpart_find(void *state, enum type_tag tag, const char *name);
void cpart_names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg);
