// SPDX-License-Identifier: Apache-2.0
/* parser.h - the passes of the parser in their order. Each pass reports errors to the diags, and returns
 * false after an error. */
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

/* The tables that define the language. */
struct language {
	const struct builtin *const *builtins;   /* families in the form of builtin_families */
	const struct builtin *c_call;            /* in the form of builtin_c_call */
	const struct provider *const *providers; /* in the form of providers */
};

/* Prints the tokens (-d lex), one per line: LINE:COL KIND TEXT. */
void lex_dump(const struct source *src, FILE *out);

/* Parses text into a tree. Returns NULL after an error. */
struct script *parse(struct arena *a, struct source *src, struct diags *d);

/* Parses a line typed at a prompt: a script, definitions without probes, or statements, which become a
 * begin probe that prints the value of the last one. earlier has the definitions of earlier lines, or is
 * NULL. Returns NULL after an error. */
struct script *parse_typed(struct arena *a, struct source *src, const struct source *earlier,
	const struct language *lang, struct diags *d);
/* Returns whether more text could complete the line. */
bool line_is_unfinished(const char *text, const struct language *lang);

/* Parses one expression, as on the right of an assignment. Returns NULL if the text is not an expression. */
struct expr *parse_expression(struct arena *a, const char *text);

/* Replaces the uses of macros by their bodies. */
bool expand(struct script *s, const struct language *lang, struct diags *d);
/* Called before check(): sets the filters of the probes, by the command line. */
void filters_add(struct script *s, const struct language *lang, const struct request *req);

/* Finds builtins, providers, variables, maps and parameters by name, and the places of attach
 * points. */
bool resolve(struct script *s, const struct language *lang, const struct request *req);

/* Prints the names (-d names): probes with their places, maps, variables. */
void names_dump(const struct script *s, FILE *out);

/* Gives types to expressions, and folds constants. May also be called after resolve() returned false, to
 * report all errors at once: unknown names do not cause further errors. */
bool check(struct script *s, const struct language *lang, const struct request *req);
/* Marks the maps that userspace will empty when it prints them: those that a block prints and then clears, and
 * with windows all aggregations. */
void check_taken(struct script *s, bool windows);

/* Fills script.options. Called after expand(). */
void options_collect(struct script *s);
/* For $name in an attach point: appends the value of the option --name, or its default. Returns the last
 * character of the name, or NULL if the script has no such option. */
struct str;
const char *option_word(const struct script *s, const struct request *req, const char *word, struct str *out);
/* Called after check(). Returns the error in the options that the command line has for the script, in the
 * script's arena, or NULL if there is none. */
const char *options_complaint(const struct script *s, const struct request *req);
/* Prints the options of the script. Called after options_collect(). */
void options_print(const struct script *s, FILE *out);
