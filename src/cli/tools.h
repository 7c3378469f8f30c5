/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - the questions that everybody asks, by name: `strata cpu -p 1234 -o cpu.svg`. A tool is a script
 * of ours, tools/NAME.bt, which is a part of the program; an other name of one, with options of its own;
 * or a command of strata. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct arena;

struct tool {
	const char *name;
	const char *script;  /* its text; NULL: a command */
	const char *help;    /* one line, no full stop; NULL: the script's first line says it */
	const char *output;  /* -o where none is given; NULL: stdout */
	double live;         /* -t, likewise; 0: none */
	enum tool_command { TOOL_RUN, TOOL_LIST, TOOL_DUMP, TOOL_SHOW } command;
};

/* NULL: there is none of that name. */
const struct tool *tool_by_name(const char *name);
/* The name nearest to what was written; NULL: none is near. */
const char *tool_nearest(const char *written);
/* Ends with one without a name. */
extern const struct tool tools[];

/* What it answers, in one line. */
const char *tool_help(const struct tool *t, struct arena *a);
/* One line each. */
void tools_list(struct arena *a, FILE *out);
/* What the head of the script says of it. */
void tool_print_head(const struct tool *t, struct arena *a, FILE *out);
/* The options of the script that begin so, with their helps: "--hz\tsamples a second". */
void tool_complete(const struct tool *t, const char *text, FILE *out);
/* Has the script an option --NAME? */
bool tool_has_option(const struct tool *t, const char *name);
/* Does the script's option --NAME take a value, which may be the next argument? */
bool tool_option_takes_value(const struct tool *t, const char *name);
