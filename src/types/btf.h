// SPDX-License-Identifier: Apache-2.0
/* btf.h - what the readers of BTF share. The format: Linux Documentation/bpf/btf.rst and
 * include/uapi/linux/btf.h (6.18). BTF may come from a file that lies: an id leads to nothing or in a
 * circle, a member lies outside its struct. What cannot be is left out. */
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
	uint32_t first, end;       /* its own types' ids */
	const struct type **made;  /* by id - first; NULL: not yet */
	struct btf_file *next;
};

/* What was looked up: places of one event class ask for the same. */
struct btf_found {
	const char *name; /* NULL: free */
	enum type_tag tag;
	uint32_t id;
	struct btf_file *file;
};

enum { BTF_FOUND_MAX = 32 };

struct btf_types {
	struct arena *arena;
	struct target *target;     /* NULL: a single BTF, of a test */
	struct btf_file *files;    /* the kernel's first */
	bool has_modules;          /* they are among files */
	struct btf *own;           /* to be freed */
	unsigned depth;            /* of structs being filled within one another */
	struct btf_found found[BTF_FOUND_MAX];
	unsigned nfound;           /* the next is put at nfound % BTF_FOUND_MAX */
	int has_tags;              /* 1: its pointers into a process are tagged; -1: not; 0: not looked for */
};

/* A source over the bytes of one BTF, which are copied. */
void btf_source_blob(struct arena *a, const void *data, size_t size, struct type_source *ret);

/* The kernel's; NULL: it has none. */
struct btf_file *btf_kernel(struct btf_types *all);
/* Follows f: the next; modules are opened when the kernel's own types come to their end. */
struct btf_file *btf_next(struct btf_file *f);
/* The file that has the type; ids are counted through from the kernel's. */
struct btf_file *btf_owner(struct btf_file *f, uint32_t id);

/* btf.c: the type of an id; type_none: void, a function, or nothing that can be read. The same id
 * gives the same type. */
const struct type *btf_make(struct btf_file *f, uint32_t id);

/* btf_find.c: the type's id and in *f its file; 0: there is none. */
uint32_t btf_find(struct btf_types *all, enum type_tag tag, const char *name, struct btf_file **f);

/* btf_print.c: the declaration of a name, in C but for a blank: "struct file * f", "char comm[16]". */
void btf_declare(struct btf_file *f, uint32_t id, const char *name, struct str *out);
/* "struct list_head {", a line a member, "};"; offsets: with comments of where and how large each is. */
void btf_define(struct btf_file *f, uint32_t id, bool offsets, struct str *out);
