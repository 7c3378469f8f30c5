// SPDX-License-Identifier: Apache-2.0
/* btf.h - shared by the readers of BTF. The format: Linux Documentation/bpf/btf.rst and
 * include/uapi/linux/btf.h (6.18). BTF may come from a file that lies: an id leads nowhere or in a circle,
 * a member lies outside its struct. Impossible parts are left out. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

struct btf;
struct btf_type;
struct str;

/* One BTF: the kernel's, or a module's, whose types build on the kernel's. */
struct btf_file {
	struct btf_types *all;
	const char *name;          /* "vmlinux" */
	struct btf *btf;
	uint32_t first, end;       /* ids of its own types */
	const struct type **made;  /* by id - first; NULL until made */
	struct btf_file *next;
};

/* A cached lookup: places of one event class ask for the same types. */
struct btf_found {
	const char *name; /* NULL if the entry is free */
	enum type_tag tag;
	uint32_t id;
	struct btf_file *file;
};

enum { BTF_FOUND_MAX = 32 };

struct btf_types {
	struct arena *arena;
	struct target *target;     /* NULL for a single BTF, in a test */
	struct btf_file *files;    /* the kernel's file is the first */
	bool has_modules;          /* modules are among the files */
	struct btf *own;           /* to be freed */
	unsigned depth;            /* nesting depth of structs that are being filled */
	struct btf_found found[BTF_FOUND_MAX];
	unsigned nfound;           /* the next one is put at nfound % BTF_FOUND_MAX */
	int has_tags;              /* whether pointers to user memory are tagged: 1 yes, -1 no, 0 not checked yet */
};

/* Makes a source of types from the bytes of one BTF, which are copied. */
void btf_source_blob(struct arena *a, const void *data, size_t size, struct type_source *ret);

/* Returns the kernel's file, or NULL if it has no BTF. */
struct btf_file *btf_kernel(struct btf_types *all);
/* Returns the file after f. Modules are opened after the kernel's own types. */
struct btf_file *btf_next(struct btf_file *f);
/* Returns the file that has the type. Ids of modules continue those of the kernel. */
struct btf_file *btf_owner(struct btf_file *f, uint32_t id);

/* In btf.c: returns the type of an id; type_none for void, a function, or an unreadable type. The same id
 * always gives the same type. */
const struct type *btf_make(struct btf_file *f, uint32_t id);

/* In btf_find.c: returns the type's id and in *f its file; 0 if there is none. */
uint32_t btf_find(struct btf_types *all, enum type_tag tag, const char *name, struct btf_file **f);

/* In btf_print.c: writes the declaration of a name in C, with a blank between star and name: "struct file *
 * f", "char comm[16]". */
void btf_declare(struct btf_file *f, uint32_t id, const char *name, struct str *out);
/* Writes "struct list_head {", one line per member, "};". offsets: comments show each member's offset and
 * size. */
void btf_define(struct btf_file *f, uint32_t id, bool offsets, struct str *out);
