// SPDX-License-Identifier: Apache-2.0
/* checker.h - shared by the files of the checker; no other file includes it.
 *
 * The checker goes through the script in rounds without errors until it learns nothing new. A last round
 * reports errors. Types only grow: see type_join(). */
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
	const struct expr *unknown; /* an expression that read it before its type was known */
	bool scalar, keyed; /* used as a scalar, used with keys */
	bool written;	    /* written at least once, perhaps with an error */
	bool waits;	    /* the type of a written value is not known yet */
	bool wrong;	    /* a written value is an error */
	bool wanted;	    /* its value was read before its type was known */
	bool down;	    /* -- or -= made it signed */
	bool reported;	    /* the error that it is never written was reported */
	bool fixed;	    /* made by an earlier script of the session, so it does not grow */
	const struct type *natural; /* type of its values outside the map, which holds integers in 8 bytes */
};

struct var_state {
	bool fixed; /* declared with a type */
	bool waits, down; /* the same as in a map */
	bool written;
};

struct check {
	struct script *script;
	const struct language *lang;
	const struct request *req;
	struct arena *arena;
	struct probe *probe;
	struct map_state *maps;	 /* by index */
	struct var_state **vars; /* by the probe's index and the variable's index */
	unsigned loops;		 /* loops around the statement */
	unsigned unknown;	 /* number of reads of maps and variables with a type that is not known yet */
	bool guessing;		 /* rounds without guesses do not learn anything new */
	bool final;		 /* the last round, which reports errors */
	bool comptime;		 /* within a comptime, where sizes of named types are numbers at once */
	bool changed;		 /* this round learnt something new */
	bool ok;
};

/* ---- check_type.c: how types agree ---- */
/* Returns the type that holds both, or NULL. */
const struct type *type_join(struct arena *a, const struct type *x, const struct type *y);
/* Returns the type in a map or variable: integers have 8 bytes. */
const struct type *type_stored(struct arena *a, const struct type *t);
/* Returns whether arithmetic takes the type: numbers, bool, pointers. */
bool type_is_number(const struct type *t);
/* Returns whether t is an integer that only holds literals that are not negative, so that either sign fits. */
bool type_is_weak(const struct type *t);
/* Returns whether t is an integer that may be negative. */
bool type_is_negative(const struct type *t);
const char *check_type_name(struct check *c, const struct type *t);
/* Returns the smallest signed type that holds a literal, or uint64. */
const struct type *type_of_literal(uint64_t value, bool is_unsigned);
/* Returns whether the value fits in the integer type t. is_unsigned: it is above INT64_MAX. */
bool type_fits(const struct type *t, uint64_t value, bool is_unsigned);
/* Returns the type that a script names, which may be type_none (void); type_bad after an error. */
const struct type *check_type(struct check *c, struct type_name *t);
/* Does the same for types that values can have. */
const struct type *check_value_type(struct check *c, struct type_name *t);

/* ---- check_expr.c ---- */
/* Checks any expression, even one without a value (type_none). Sets n->type. */
const struct type *check_expr(struct check *c, struct expr *n);
/* Checks an expression that must have a value. */
const struct type *check_value(struct check *c, struct expr *n);
/* Checks statements, also those in a block with a value. */
void check_stmts(struct check *c, struct stmt *n);
/* Limits of check_members(), which returns the tuple of a list of expressions. */
#define TUPLE_MAX	(8 << 20)
#define TUPLE_DEPTH_MAX 16
const struct type *check_members(struct check *c, struct span at, struct expr *first);
/* Checks an expression that must be true or false. Returns false if it is neither. */
bool check_truth(struct check *c, struct expr *n);

/* ---- check_memory.c: pointers, structs, arrays ---- */
const struct type *check_field(struct check *c, struct expr *n);
const struct type *check_index(struct check *c, struct expr *n);
const struct type *check_deref(struct check *c, struct expr *n);
const struct type *check_address(struct check *c, struct expr *n);
const struct type *check_typeinfo(struct check *c, struct expr *n);
const struct type *check_offsetof(struct check *c, struct expr *n);
/* Returns the type of `args` as a value: a record of all arguments. */
const struct type *check_args_value(struct check *c, struct expr *n);

/* ---- check_cast.c ---- */
const struct type *check_cast(struct check *c, struct expr *n);

/* ---- check_op.c ---- */
const struct type *check_unop(struct check *c, struct expr *n);
const struct type *check_binop(struct check *c, struct expr *n);
const struct type *check_ternary(struct check *c, struct expr *n);
const struct type *check_sizeof(struct check *c, struct expr *n);
/* Returns the type of `left op right` for integers. Reports operands that the operator does not take. */
const struct type *check_arith(struct check *c, struct span at, enum op op,
	struct expr *left, struct expr *right);

/* ---- check_call.c ---- */
const struct type *check_call(struct check *c, struct expr *n, bool into_map);

/* ---- check_map.c ---- */
/* Returns the type of an element or a scalar map, as it lies in the map. */
const struct type *check_element(struct check *c, struct expr *n);
/* Returns the type of an expression that reads the map: count(), sum().. are int64. */
const struct type *check_map_read(struct check *c, struct expr *n);
/* Checks a map that a loop goes over, which must have keys. Returns the type of its values when they are
 * read. */
const struct type *check_loop_map(struct check *c, struct expr *n);
/* Checks a map written without key that means the whole map. */
const struct type *check_whole_map(struct check *c, struct expr *n);
/* Takes the types of maps that earlier scripts of the session made. */
void check_known_maps(struct check *c);
/* Called when rounds learn nothing new: gives the value 0 to a map that waits for itself, or is only read.
 * Returns whether there is such a map. */
bool check_guess(struct check *c);
/* Notes that the map's value is read. */
void check_map_wanted(struct check *c, const struct map *m);
/* Called after the last round: a map or variable without a type is an error. */
void check_map_is_known(struct check *c, struct map *m);
void check_var_is_known(struct check *c, const struct var *v);
/* Checks the keys of a use of the map. keys is NULL for a scalar. */
void check_key(struct check *c, struct expr *map, struct expr *keys);
void check_assign(struct check *c, struct stmt *n);
void check_let(struct check *c, struct stmt *n);
/* Checks the target of ++ and --, which becomes a number; -- makes it signed. */
const struct type *check_counted(struct check *c, struct expr *target, bool down);
const struct type *check_var_write(struct check *c, struct expr *var, struct span at,
	const struct type *t);
const struct type *check_var_read(struct check *c, struct expr *n);

/* ---- fold.c ---- */
/* Replaces an operator on constants by a constant. Returns false if the result has more than 64 bits. */
void fold_unop(struct expr *n);
bool fold_binop(struct expr *n);
/* Replaces the expression by that INT or BOOL. */
void fold_to_int(struct expr *n, uint64_t value);
void fold_to_bool(struct expr *n, bool value);

/* ---- check_thin.c: config thin ---- */
/* Returns whether runs of the probe stand for a time, as those of profile do. */
bool probe_samples(const struct probe *p);
/* Reports a change of the map in a probe that is thinned, other than by an aggregation. */
void check_thin_map(struct check *c, const struct map *m, struct span at);
/* Called after the last round: finds the probes that are thinned. None is an error. */
void check_thinned(struct check *c);
