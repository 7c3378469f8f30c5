/* SPDX-License-Identifier: Apache-2.0 */
/* tools.h - tools for common questions, by name: `strata cpu -p 1234 -o cpu.svg`. A tool is a script that
 * is part of the program, tools/NAME.bt; another name for one, with its own options; or a command of
 * strata. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;

struct tool {
	const char *name;
	const char *script;  /* text of its script; NULL for a command */
	const char *help;    /* one line without a full stop; NULL: the script's first line has it */
	const char *output;  /* the default of -o; NULL for stdout */
	double live;         /* the default of -t; 0 for none */
	enum tool_command { TOOL_RUN, TOOL_LIST, TOOL_DUMP, TOOL_SHOW, TOOL_AGENT, TOOL_BUILD } command;
};

/* Returns NULL if there is no such tool. */
const struct tool *tool_by_name(const char *name);
/* Returns the most similar name, or NULL if no name is similar. */
const char *tool_nearest(const char *written);
/* Ends with a tool without a name. */
extern const struct tool tools[];

/* Returns the question that the tool answers, in one line. */
const char *tool_help(const struct tool *t, struct arena *a);
/* Prints one line per tool. */
void tools_list(struct arena *a, FILE *out);
/* Prints the help from the script's first comment. */
void tool_print_head(const struct tool *t, struct arena *a, FILE *out);
/* Prints the script's options that begin with the text, with their help: "--hz\tsamples per second". */
void tool_complete(const struct tool *t, const char *text, FILE *out);
/* Returns whether the script has an option --NAME. */
bool tool_has_option(const struct tool *t, const char *name);
/* Returns whether the script's option --NAME takes a value, which may be the next argument. */
bool tool_option_takes_value(const struct tool *t, const char *name);
/* Returns whether its value is a number. */
bool tool_option_is_number(const struct tool *t, const char *name);
/* Copies the names of the script's options, at most max. Returns their number. */
size_t tool_options(const struct tool *t, char (*ret)[64], size_t max);
