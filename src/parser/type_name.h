// SPDX-License-Identifier: Apache-2.0
/* type_name.h - types as scripts write them: the table of their names. */
#pragma once
#include <stdbool.h>

#include "base/source.h"

struct arena;
struct expr;
struct parse;
struct type;

enum type_form {
	TYPE_FORM_KNOWN,   /* .type */
	TYPE_FORM_STRING,  /* string, without a size */
	TYPE_FORM_SIZE,    /* string[N] with a size that no string has */
	TYPE_FORM_UNKNOWN, /* the name of no type */
	TYPE_FORM_TYPEOF,  /* the type of .of */
	/* What bpftrace has: */
	TYPE_FORM_C,       /* int, unsigned long, size_t, void.. */
	TYPE_FORM_TAG,     /* struct NAME, union NAME, enum NAME */
	TYPE_FORM_POINTER,
	TYPE_FORM_ARRAY,
};

/* A type in a script. */
struct type_name {
	enum type_form form;
	struct span span;
	const char *text;        /* as written; by build.c, once the type is whole */
	const struct type *type; /* KNOWN */
	struct expr *of;         /* TYPEOF */
};

/* Can the word only be a type's name, known or not? Those of the table, all that end in _t, int and
 * uint with any number. */
bool type_name_is(const char *word);

/* For the grammar: a type of one word; t with another word behind it; t[N], t[]; t *; struct NAME;
 * typeof(expression). `at` is the whole. They live in the parse's arena. */
struct type_name *type_name_word(struct parse *p, struct span at, const char *word);
struct type_name *type_name_more(struct parse *p, struct span at, struct type_name *t);
struct type_name *type_name_array(
	struct parse *p, struct span at, struct type_name *t, const struct expr *size);
struct type_name *type_name_pointer(struct parse *p, struct span at);
struct type_name *type_name_tag(struct parse *p, struct span at);
struct type_name *type_name_of(struct parse *p, struct span at, struct expr *e);
