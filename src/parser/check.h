// SPDX-License-Identifier: Apache-2.0
/* check.h - for the .check functions of builtins. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct check;
struct expr;
struct probe;
struct script;
struct type;

struct arena *check_arena(struct check *c);
struct script *check_script(struct check *c);
struct probe *check_probe(struct check *c); /* the probe being checked */
const struct resolve_env *check_env(struct check *c);

/* An error, reported in the last round only: .check may call it in every round. Gives type_bad. */
const struct type *check_fail(struct check *c, struct span at, enum diag_tag tag,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void check_note(struct check *c, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_hint(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The i-th argument, or NULL. */
struct expr *call_arg(const struct expr *call, unsigned i);
/* Is it a constant integer, once folded? */
bool expr_is_const(const struct expr *n, int64_t *ret_value);

/* Do the arguments agree with the conversions of the format, in number and kind? False after an
 * error. For printf() and the like. */
bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg);

/* getopt(): replaces the call by the option's value, a literal. */
const struct type *check_option(struct check *c, struct expr *call);

/* Where a string is wanted: $1 that was given as a number becomes its text. True: n is a string
 * literal now. */
bool expr_param_as_string(struct check *c, struct expr *n);
