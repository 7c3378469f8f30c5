/* SPDX-License-Identifier: Apache-2.0 */
/* option_rows.h - the options of the command line as rows, which are read by getopt and printed as help. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct options; /* what the options set */

/* An option: its names and its effect. */
struct option_row {
	const char *name;
	int val;          /* the short one's letter, or a number above 255 */
	const char *arg;  /* its name in the help; NULL: it takes none */
	const char *help; /* NULL: for the shells' completion, not for people */
	bool (*set)(struct options *o, const struct option_row *row, const char *arg); /* false: it complained */
	size_t at;        /* for set() */
	/* Of the last row, which has no name: takes a long option, without --, that no row has. false: it is
	 * none of its either. */
	bool (*other)(struct options *o, const char *option, int argc, char **argv);
};

/* Prints an error about the command line, "WHAT ARG", and returns false. arg may be NULL. */
bool usage(const char *what, const char *arg);
/* As far as the first word that is no option; optind is behind them. false after a complaint. */
bool option_rows_read(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv);
/* The words behind the script, among which may be options, up to "--". */
bool option_rows_words(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv,
	void (*word)(struct options *o, const char *arg));
void option_rows_help(const struct option_row *rows, size_t n, FILE *out);
