// SPDX-License-Identifier: Apache-2.0
/* builtin_names.h - finds builtins by name, and suggests names. Only the parser includes it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct arena;
struct builtin;
struct language;
struct provider;
struct script;

const struct builtin *builtin_find(const struct language *l, const char *name);

/* Returns whether a bare name that is not a builtin can be an argument of this builtin. */
bool builtin_takes_words(const struct builtin *b);

/* The kinds of names that bpftrace has and strata does not have yet. */
enum peer_kind { PEER_FUNCTION, PEER_PROBE, PEER_WORD };
bool peer_has(enum peer_kind kind, const char *name);

/* Removes the places that the command line does not select. */
struct attach_point;
struct request;
void points_leave_out(const struct request *req, struct attach_point *ap);
/* The results of tests and benchmarks need names. Returns false after an error. */
bool points_check_name(const struct script *s, struct diags *d, const struct attach_point *ap);

/* Adds the hint "did you mean X?" if there is a similar name. */
void hint_builtin(
	struct diags *d, struct arena *a, const struct language *l, const char *written);
void hint_provider(
	struct diags *d, struct arena *a, const struct language *l, const char *written);
void hint_nearest(struct diags *d, const char *prefix, const char *written,
	const char *const *names, size_t n);
