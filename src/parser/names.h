// SPDX-License-Identifier: Apache-2.0
/* names.h - finds builtins by name, and suggests names; only the parser includes it. */
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

/* May a bare name that is no builtin be an argument of this one? */
bool builtin_takes_words(const struct builtin *b);

/* Is it a name of bpftrace that strata does not have yet? */
enum peer_kind { PEER_FUNCTION, PEER_PROBE, PEER_WORD };
bool peer_has(enum peer_kind kind, const char *name);

/* Takes the places from it that the command line does not want. */
struct attach_point;
struct request;
void points_leave_out(const struct request *req, struct attach_point *ap);
/* Of tests and benchmarks results are by name: false after an error. */
bool points_check_name(const struct script *s, struct diags *d, const struct attach_point *ap);

/* "did you mean X?", when something is near. */
void hint_builtin(
	struct diags *d, struct arena *a, const struct language *l, const char *written);
void hint_provider(
	struct diags *d, struct arena *a, const struct language *l, const char *written);
void hint_nearest(struct diags *d, const char *prefix, const char *written,
	const char *const *names, size_t n);
