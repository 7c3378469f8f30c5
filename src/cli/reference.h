// SPDX-License-Identifier: Apache-2.0
/* reference.h - the texts of reference.def, for the help on the language. */
#pragma once

/* An entry for a feature that no other row describes. */
struct language_entry {
	const char *name;
	const char *form; /* NULL if the form is only the name */
	const char *help; /* one line */
	const char *example;
};

/* All end with a NULL name. */
extern const struct language_entry language_statements[], language_settings[], language_modes[];

/* Returns an example of a builtin or a type of probe, a whole script, or NULL if there is none. */
const char *language_example(const char *name);
