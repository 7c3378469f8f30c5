// SPDX-License-Identifier: Apache-2.0
/* reference.h - the language, for people: what reference.def has. */
#pragma once

/* What has no row elsewhere that says what it is. */
struct language_entry {
	const char *name;
	const char *form; /* NULL: the name is all */
	const char *help; /* one line */
	const char *example;
};

/* Each ends with a NULL name. */
extern const struct language_entry language_statements[], language_settings[];

/* Of a builtin or a type of probe: a whole script; NULL: it has none. */
const char *language_example(const char *name);
