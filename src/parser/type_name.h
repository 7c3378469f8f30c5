// SPDX-License-Identifier: Apache-2.0
/* type_name.h - types as scripts write them, and the table of their names. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"

struct arena;
struct expr;
struct parse;
struct type;

enum type_form {
	TYPE_FORM_KNOWN,   /* a known type: .type */
	TYPE_FORM_STRING,  /* string[.n]; n is 0 without a size */
	TYPE_FORM_BUFFER,  /* buffer[.n] */
	TYPE_FORM_UNKNOWN, /* the name is not a type */
	TYPE_FORM_TYPEOF,  /* the type of the expression .of */
	TYPE_FORM_C,       /* int, unsigned long, void..: .words */
	TYPE_FORM_NAME,    /* a typedef: .words */
	TYPE_FORM_TAG,     /* struct NAME, union NAME, enum NAME: .words */
	TYPE_FORM_POINTER, /* pointer to .inner */
	TYPE_FORM_ARRAY,   /* .n elements of .inner; n is 0 for as many as fit */
};

/* A type in a script. */
struct type_name {
	enum type_form form;
	struct span span;
	const char *text;        /* as written; set by build.c once the type is complete */
	const char *words;       /* separated by one blank */
	const struct type *type; /* KNOWN; for other forms, set by check */
	struct type_name *inner;
	unsigned depth;          /* nesting depth of types */
	uint64_t n;
	struct expr *of;         /* TYPEOF */
};

/* Returns the expression of a typeof() in the type, or NULL. */
static inline struct expr *type_name_expr(const struct type_name *t)
{
	while (t && t->inner)
		t = t->inner;
	return t ? t->of : NULL;
}

/* Returns whether the word can only be the name of a type, known or unknown: names in the table, names that
 * end in _t, and int and uint with any number. */
bool type_name_is(const char *word);

/* These functions make types for the grammar: a type of one word; t with another word after it; t[N], t[];
 * t *; struct NAME; typeof(expression). `at` spans the whole type. The types live in the parse's arena. */
struct type_name *type_name_word(struct parse *p, struct span at, const char *word);
struct type_name *type_name_more(
	struct parse *p, struct span at, struct type_name *t, const char *word);
struct type_name *type_name_array(
	struct parse *p, struct span at, struct type_name *t, const struct expr *size);
struct type_name *type_name_pointer(struct parse *p, struct span at, struct type_name *to);
struct type_name *type_name_tag(
	struct parse *p, struct span at, const char *tag, const char *name);
/* Makes the type for a name that is only known to be a type by a `*` or by a value after the parentheses. */
struct type_name *type_name_typedef(struct parse *p, struct span at, const char *name);
struct type_name *type_name_of(struct parse *p, struct span at, struct expr *e);
