// SPDX-License-Identifier: Apache-2.0
/* traced.h - the process of -p, or the command of -c. */
#pragma once
#include <stdbool.h>

#include "session/child.h"

struct resolve_env;
struct target;

struct traced {
	struct target *target;
	int pid;            /* of -p; or 0 */
	struct child child; /* of -c; its pid is 0: there is none */
	char *exe;          /* what it was found to run; owned */
};

/* For struct resolve_env, whose find_arg is a struct traced: find_exe() and traced_files(). */
const char *traced_find(const struct resolve_env *env, const char *name);
const char *const *traced_files(const struct resolve_env *env, bool all);
