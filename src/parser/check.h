// SPDX-License-Identifier: Apache-2.0
/* check.h - for the checks of builtin rows. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct check;
struct expr;
struct probe;
struct type;

struct arena *check_arena(struct check *c);
struct probe *check_probe(struct check *c); /* the probe being checked */
const struct resolve_env *check_env(struct check *c);

/* Complains only in the last round, so that a builtin's check may call it
 * freely; always gives type_bad. */
const struct type *check_fail(struct check *c, struct span at, enum diag_tag tag,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void check_note(struct check *c, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_hint(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The i-th argument, or NULL. */
struct expr *call_arg(const struct expr *call, unsigned i);
/* A constant integer (folded)? */
bool expr_is_const(const struct expr *n, int64_t *ret_value);

/* The conversions of a literal format and the arguments after it, by count and kind;
 * complains itself. For rows such as printf(). */
bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg);

/* `$1` that holds a number becomes the text that was given, where a string is wanted;
 * true if it is one now. */
bool expr_param_as_string(struct check *c, struct expr *n);
