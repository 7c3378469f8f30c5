// SPDX-License-Identifier: Apache-2.0
/* parser.h - the passes of this room, in their order. Each returns false after
 * having complained to the diags. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct arena;
struct builtin;
struct diags;
struct provider;
struct resolve_env;
struct script;
struct source;

/* What the language has beside its grammar. */
struct language {
	const struct builtin *const *builtins;   /* families, as builtin_families */
	const struct provider *const *providers; /* as providers */
};

/* -d lex: one token a line: LINE:COL KIND TEXT. */
void lex_dump(const struct source *src, FILE *out);

/* text -> tree. NULL after a complaint. */
struct script *parse(struct arena *a, const struct source *src, struct diags *d);

/* names -> builtins, providers, variables, maps, parameters; attach points ->
 * places. */
bool resolve(struct script *s, const struct language *lang, const struct resolve_env *env);

/* -d names: probes with their places, maps, variables. */
void names_dump(const struct script *s, FILE *out);

/* May be called after resolve() gave false: what is not known is silently bad, and
 * what else is wrong with the script is told in the same go.
 * expressions -> types: learns silently until nothing changes, then complains
 * once. Constants are folded on the way. */
bool check(struct script *s, const struct language *lang, const struct resolve_env *env);
