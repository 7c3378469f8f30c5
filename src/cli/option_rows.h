/* SPDX-License-Identifier: Apache-2.0 */
/* option_rows.h - the options of the command line as rows, which are read by getopt and printed as help. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct options; /* set by options */

/* An option: its names and its effect. */
struct option_row {
	const char *name;
	int val;          /* the letter of the short option, or a number above 255 */
	const char *arg;  /* name of its argument in the help, "[=NAME]" if it is optional; NULL without argument */
	const char *help; /* NULL for an option that is only for shell completion */
	bool (*set)(struct options *o, const struct option_row *row, const char *arg); /* false after an error */
	size_t at;        /* offset for set() */
	/* The last row, which has no name, has this function. It takes a long option, without --, that no
	 * row has. Returns false if it does not know the option either. */
	bool (*other)(struct options *o, const char *option, int argc, char **argv);
	/* The last row: whether other() takes the long option, even if its name begins a row's name. */
	bool (*is_other)(const struct options *o, const char *option);
};

/* Prints an error about the command line, "WHAT ARG", and returns false. arg may be NULL. */
bool usage(const char *what, const char *arg);
/* Reads options up to the first other word, and sets optind to it. Returns false after an error. */
bool option_rows_read(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv);
/* Reads the words after the script, which may include options, up to "--". */
bool option_rows_words(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv,
	void (*word)(struct options *o, const char *arg));
void option_rows_help(const struct option_row *rows, size_t n, FILE *out);
