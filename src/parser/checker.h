// SPDX-License-Identifier: Apache-2.0
/* checker.h - what the files of the checker share; only they include it.
 *
 * The checker goes through the script in rounds, without errors, until it learns nothing new; a last
 * round reports errors. Types only grow: see type_join(). */
#pragma once
#include "ast.h"
#include "check.h"
#include "model/builtin.h"
#include "model/provider.h"
#include "model/request.h"
#include "model/type.h"
#include "parser.h"
#include "type_name.h"
#include "types/types.h"

struct map_state {
	const struct expr *unknown; /* where it was read before its type was known */
	bool scalar, keyed; /* it was used in this way */
	bool written;	    /* perhaps with an error */
	bool waits;	    /* a value that was written has no type yet */
	bool wrong;	    /* a value that was written is an error */
	bool wanted;	    /* its value was read before its type was known */
	bool down;	    /* -- or -= made it signed */
	bool reported;	    /* as never written */
	bool fixed;	    /* an earlier script of the session made it: it does not grow */
	const struct type *natural; /* what its values have outside: it holds integers in 8 bytes */
};

struct var_state {
	bool fixed; /* declared with a type */
	bool waits, down; /* as of a map */
	bool written;
};

struct check {
	struct script *script;
	const struct language *lang;
	const struct request *req;
	struct arena *arena;
	struct probe *probe;
	struct map_state *maps;	 /* by index */
	struct var_state **vars; /* by probe's index, by variable's */
	unsigned loops;		 /* around the statement */
	unsigned unknown;	 /* reads of maps and variables whose types are not known yet */
	bool guessing;		 /* rounds without guesses learn nothing more */
	bool final;		 /* the last round: errors are reported */
	bool comptime;		 /* within a comptime: sizes of named types are numbers at once */
	bool changed;		 /* something new was learnt */
	bool ok;
};

/* ---- check_type.c: how types agree ---- */
/* The type that holds both, or NULL. */
const struct type *type_join(struct arena *a, const struct type *x, const struct type *y);
/* As it lies in a map or variable: integers in 8 bytes. */
const struct type *type_stored(struct arena *a, const struct type *t);
/* Numbers, bool, pointers: what arithmetic takes. */
bool type_is_number(const struct type *t);
/* Returns whether t is an integer that holds only literals that are not negative: it takes either sign. */
bool type_is_weak(const struct type *t);
/* Returns whether t is an integer that may be negative. */
bool type_is_negative(const struct type *t);
const char *check_type_name(struct check *c, const struct type *t);
/* The smallest signed type that holds a literal; or uint64. */
const struct type *type_of_literal(uint64_t value, bool is_unsigned);
/* Is it a value of the integer type t? is_unsigned: it is above INT64_MAX. */
bool type_fits(const struct type *t, uint64_t value, bool is_unsigned);
/* The type that a script names, which may be type_none (void); type_bad after an error. */
const struct type *check_type(struct check *c, struct type_name *t);
/* The same, one that values have. */
const struct type *check_value_type(struct check *c, struct type_name *t);

/* ---- check_expr.c ---- */
/* Any expression, type_none too. Sets n->type. */
const struct type *check_expr(struct check *c, struct expr *n);
/* One that must have a value. */
const struct type *check_value(struct check *c, struct expr *n);
/* Statements; within a block that has a value, too. */
void check_stmts(struct check *c, struct stmt *n);
/* The tuple of a list of expressions. */
#define TUPLE_MAX	(8 << 20)
#define TUPLE_DEPTH_MAX 16
const struct type *check_members(struct check *c, struct span at, struct expr *first);
/* One that is true or false; false when it is neither. */
bool check_truth(struct check *c, struct expr *n);

/* ---- check_memory.c: pointers, structs, arrays ---- */
const struct type *check_field(struct check *c, struct expr *n);
const struct type *check_index(struct check *c, struct expr *n);
const struct type *check_deref(struct check *c, struct expr *n);
const struct type *check_address(struct check *c, struct expr *n);
const struct type *check_typeinfo(struct check *c, struct expr *n);
const struct type *check_offsetof(struct check *c, struct expr *n);
/* `args` as a value: a record of all arguments. */
const struct type *check_args_value(struct check *c, struct expr *n);

/* ---- check_cast.c ---- */
const struct type *check_cast(struct check *c, struct expr *n);

/* ---- check_op.c ---- */
const struct type *check_unop(struct check *c, struct expr *n);
const struct type *check_binop(struct check *c, struct expr *n);
const struct type *check_ternary(struct check *c, struct expr *n);
const struct type *check_sizeof(struct check *c, struct expr *n);
/* Result of `left op right` for integers; complains of what they cannot do. */
const struct type *check_arith(struct check *c, struct span at, enum op op,
	struct expr *left, struct expr *right);

/* ---- check_call.c ---- */
const struct type *check_call(struct check *c, struct expr *n, bool into_map);

/* ---- check_map.c ---- */
/* An element (or a scalar map): its value's type as it lies in the map. */
const struct type *check_element(struct check *c, struct expr *n);
/* The same, for an expression: count(), sum().. are int64. */
const struct type *check_map_read(struct check *c, struct expr *n);
/* A map that a loop goes over, which must have keys: the type of its values, as they are read. */
const struct type *check_loop_map(struct check *c, struct expr *n);
/* A map written without key that means the whole of it. */
const struct type *check_whole_map(struct check *c, struct expr *n);
/* Maps that earlier scripts of the session made have their types from there. */
void check_known_maps(struct check *c);
/* Called when rounds learn nothing more: gives a map that waits for itself, or is only read, the value 0. Returns
 * whether there is such a map. */
bool check_guess(struct check *c);
/* Notes that the map's value is read. */
void check_map_wanted(struct check *c, const struct map *m);
/* After the last round: a map or variable without a type is an error. */
void check_map_is_known(struct check *c, struct map *m);
void check_var_is_known(struct check *c, const struct var *v);
/* The keys of a use of the map; NULL: used as a scalar. */
void check_key(struct check *c, struct expr *map, struct expr *keys);
void check_assign(struct check *c, struct stmt *n);
void check_let(struct check *c, struct stmt *n);
/* Checks the target of ++ and --, which becomes a number; -- makes it signed. */
const struct type *check_counted(struct check *c, struct expr *target, bool down);
const struct type *check_var_write(struct check *c, struct expr *var, struct span at,
	const struct type *t);
const struct type *check_var_read(struct check *c, struct expr *n);

/* ---- fold.c ---- */
/* An operator on constants becomes one; false: the result has more than 64 bits. */
void fold_unop(struct expr *n);
bool fold_binop(struct expr *n);
/* It becomes that INT or BOOL. */
void fold_to_int(struct expr *n, uint64_t value);
void fold_to_bool(struct expr *n, bool value);
