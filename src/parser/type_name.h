// SPDX-License-Identifier: Apache-2.0
/* type_name.h - types as scripts write them: the table of their names. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"

struct arena;
struct expr;
struct parse;
struct type;

enum type_form {
	TYPE_FORM_KNOWN,   /* .type */
	TYPE_FORM_STRING,  /* string[.n]; n 0: without a size */
	TYPE_FORM_BUFFER,  /* buffer[.n] */
	TYPE_FORM_UNKNOWN, /* the name of no type */
	TYPE_FORM_TYPEOF,  /* the type of .of */
	TYPE_FORM_C,       /* int, unsigned long, void..: .words */
	TYPE_FORM_NAME,    /* a typedef: .words */
	TYPE_FORM_TAG,     /* struct NAME, union NAME, enum NAME: .words */
	TYPE_FORM_POINTER, /* to .inner */
	TYPE_FORM_ARRAY,   /* .n of .inner; n 0: as many as fit */
};

/* A type in a script. */
struct type_name {
	enum type_form form;
	struct span span;
	const char *text;        /* as written; by build.c, once the type is whole */
	const char *words;       /* one blank between two */
	const struct type *type; /* KNOWN; others: once check has found it */
	struct type_name *inner;
	unsigned depth;          /* of types in one another */
	uint64_t n;
	struct expr *of;         /* TYPEOF */
};

/* The expression of a typeof() in it; NULL. */
static inline struct expr *type_name_expr(const struct type_name *t)
{
	while (t && t->inner)
		t = t->inner;
	return t ? t->of : NULL;
}

/* Can the word only be a type's name, known or not? Those of the table, all that end in _t, int and
 * uint with any number. */
bool type_name_is(const char *word);

/* For the grammar: a type of one word; t with another word behind it; t[N], t[]; t *; struct NAME;
 * typeof(expression). `at` is the whole. They live in the parse's arena. */
struct type_name *type_name_word(struct parse *p, struct span at, const char *word);
struct type_name *type_name_more(
	struct parse *p, struct span at, struct type_name *t, const char *word);
struct type_name *type_name_array(
	struct parse *p, struct span at, struct type_name *t, const struct expr *size);
struct type_name *type_name_pointer(struct parse *p, struct span at, struct type_name *to);
struct type_name *type_name_tag(
	struct parse *p, struct span at, const char *tag, const char *name);
/* A name that only a `*` or a value behind the parentheses shows to be a type's. */
struct type_name *type_name_typedef(struct parse *p, struct span at, const char *name);
struct type_name *type_name_of(struct parse *p, struct span at, struct expr *e);
