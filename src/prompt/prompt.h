// SPDX-License-Identifier: Apache-2.0
/* prompt.h - strata without arguments: lines are scripts, statements or commands; what they attach runs
 * until it is dropped, while further lines are typed. */
#pragma once
#include <stdbool.h>

#include "session/session.h"

struct compile;
struct target;

struct prompt_options {
	struct target *target;
	struct session_options session; /* -p, -c, -f..; without a stream */
	/* Fills in what the command line says for each line. */
	void (*prepare)(void *arg, struct compile *c);
	void *arg;
	bool colour;
};

/* Until the user leaves: the exit status. */
int prompt_run(const struct prompt_options *opt);
