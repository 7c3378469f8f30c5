// SPDX-License-Identifier: Apache-2.0
/* parser.h - the passes of the parser, in their order. Each reports errors to the diags and returns
 * false after one. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct arena;
struct builtin;
struct diags;
struct expr;
struct provider;
struct request;
struct script;
struct source;

/* The rows that belong to the language. */
struct language {
	const struct builtin *const *builtins;   /* families, as builtin_families */
	const struct builtin *c_call;            /* as builtin_c_call */
	const struct provider *const *providers; /* as providers */
};

/* -d lex: one token a line: LINE:COL KIND TEXT. */
void lex_dump(const struct source *src, FILE *out);

/* Text to tree. NULL after an error. */
struct script *parse(struct arena *a, struct source *src, struct diags *d);

/* What is typed at a prompt: a script, definitions without probes, or statements, which are a begin probe
 * that prints the value of the last one. earlier: the definitions of earlier lines, or NULL. NULL after an
 * error. */
struct script *parse_typed(struct arena *a, struct source *src, const struct source *earlier,
	const struct language *lang, struct diags *d);
/* Would more text make a line of it? */
bool line_is_unfinished(const char *text, const struct language *lang);

/* One expression, as it may stand on the right of an assignment; NULL: the text is none. */
struct expr *parse_expression(struct arena *a, const char *text);

/* Replaces the uses of macros by their bodies. */
bool expand(struct script *s, const struct language *lang, struct diags *d);

/* Finds builtins, providers, variables, maps and parameters by name, and the places of attach
 * points. */
bool resolve(struct script *s, const struct language *lang, const struct request *req);

/* -d names: probes with their places, maps, variables. */
void names_dump(const struct script *s, FILE *out);

/* Gives expressions their types, and folds constants. May be called after resolve() gave false, too,
 * to report all errors at once: names that are unknown cause no further ones. */
bool check(struct script *s, const struct language *lang, const struct request *req);

/* Once expanded: fills in script.options. */
void options_collect(struct script *s);
/* $name of such an option, in an attach point: appends what --name has, or its default, and gives the last
 * character of the name; NULL: the script has none of that name. */
struct str;
const char *option_word(const struct script *s, const struct request *req, const char *word, struct str *out);
/* Once checked: what is wrong with the options that the command line has for the script, in the script's
 * arena; NULL: nothing. */
const char *options_complaint(const struct script *s, const struct request *req);
/* The options that the script has, once collected. */
void options_print(const struct script *s, FILE *out);
