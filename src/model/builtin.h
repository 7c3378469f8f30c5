// SPDX-License-Identifier: Apache-2.0
/* builtin.h - each builtin variable or function is one row; its functions stand above it in the same file.
 * Parser and generator do not know any builtin by name. */
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
	BUILTIN_STMT = 4,   /* a statement of its own, without a value */
	BUILTIN_RECORD = 16,  /* its effect is a record, by which userspace does it */
	BUILTIN_CHANGES = 32, /* changes a map */
	BUILTIN_LEAVES = 64,  /* ends the program */
	BUILTIN_NAMED = 256,  /* .check reads the arguments with names, call.named */
	BUILTIN_HOLDS = 128,  /* effects after it are held until another program decides */
	BUILTIN_UNSAFE = 8, /* changes the traced program or the system: needs --unsafe */
};

/* .sig is printed by the help, and parsed by check.c before .check runs:
 *
 *     "ARGS -> TYPE": ARGS has one word per parameter, [..] is optional, `...` is any number of further arguments
 *
 *     int       integers and pointers     string    strings
 *     any       any value                 map       a map without key
 *     literal   a constant integer        format    a literal string
 *     word      a bare word               mapkey    @m or @m[k]
 *     key       a key of the map that is the argument before
 *     var       a variable, which is written
 *
 * `any` also takes a map without key; .check refuses such a map where it makes no sense. An optional
 * word may be left out before other arguments. A builtin variable whose first argument is optional
 * takes a word for `any`.
 *
 *     TYPE: none int32 uint32 int64 uint64 bool string[16] ksym usym probe func,
 *     or `special`: .check gives the type.
 *
 * ARGS is "" if there are no arguments: " -> uint32". */
struct builtin {
	const char *name;
	const char *sig;
	const char *help; /* one line without a full stop */
	unsigned flags;
	/* Makes further checks after the arguments were compared with the signature. Called in each round
	 * of the checker. Returns the type if the signature has `special`, type_bad after an error, else
	 * NULL. May be NULL. */
	const struct type *(*check)(struct check *c, struct expr *call);
	/* Generates code and returns the value, in registers or in memory. If into is not NULL and values
	 * of the type lie in memory, the value is written there (see codegen/gen.h). */
	struct ir *(*gen)(struct gen *g, struct expr *call, struct ir *into);
};

/* The rows of a family end with a NULL name, the families with NULL. */
extern const struct builtin *const builtin_families[];
/* The row of calls of C functions. The call's data is a struct c_function. */
extern const struct builtin builtin_c_call;
