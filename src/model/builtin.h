// SPDX-License-Identifier: Apache-2.0
/* builtin.h - a builtin variable or function is one row, with its functions above it in the same
 * file. Parser and generator know no builtin by name. */
#pragma once
#include <stdbool.h>

struct check;
struct gen;
struct expr;
struct type;
struct ir;

enum builtin_flags {
	BUILTIN_VAR = 1,    /* may be written without () */
	BUILTIN_AGG = 2,    /* only as @m = f() or @m[k] = f() */
	BUILTIN_STMT = 4,   /* has no value: a statement of its own */
	BUILTIN_UNSAFE = 8, /* changes what is traced or the system: only with --unsafe */
};

/* .sig is what the help prints and what check.c parses before .check runs:
 *
 *     "ARGS -> TYPE", ARGS one word a parameter, [..] optional, `...` any more
 *
 *     int       integers and pointers     string    strings
 *     any       any value                 map       a map without key
 *     literal   a constant integer        format    a literal string
 *     word      a bare word               mapkey    @m or @m[k]
 *     key       a key of the map that is the argument before
 *     var       a variable, which is written
 *
 * `any` takes a map without key, too; .check refuses that where it makes no sense. An optional
 * word may be left out in front of other arguments. A builtin variable whose first
 * argument is optional takes a word for `any`.
 *
 *     TYPE: none int32 uint32 int64 uint64 bool string[16] ksym usym probe func,
 *     or `special`: .check says.
 *
 * "" for ARGS when there are none: " -> uint32". */
struct builtin {
	const char *name;
	const char *sig;
	const char *help; /* one line, no full stop */
	unsigned flags;
	/* Further checks, once the arguments agree with the signature: gives the type if the
	 * signature says `special`, type_bad after an error of its own, else NULL. May be NULL.
	 * Called in each round of the checker. */
	const struct type *(*check)(struct check *c, struct expr *call);
	/* Generates code: the value, in registers or in memory; or, if into is not NULL and the type
	 * lies in memory, written there (see codegen/gen.h). */
	struct ir *(*gen)(struct gen *g, struct expr *call, struct ir *into);
};

/* Rows end with a NULL name; families with NULL. */
extern const struct builtin *const builtin_families[];
/* A call of a function in C, which is the call's data (struct c_function). */
extern const struct builtin builtin_c_call;
