// SPDX-License-Identifier: Apache-2.0
/* prompt.h - strata without arguments: each line is a script, statements or a command. Probes of a line run
 * until the line is dropped, while further lines are typed. */
#pragma once
#include <stdbool.h>

#include "session/session.h"

struct compile;
struct target;

struct prompt_options {
	struct target *target;
	struct session_options session; /* -p, -c, -f..; without a stream */
	/* Fills in the options of the command line for each line. */
	void (*prepare)(void *arg, struct compile *c);
	void *arg;
	bool colour;
};

/* Runs until the user leaves. Returns the exit status. */
int prompt_run(const struct prompt_options *opt);
