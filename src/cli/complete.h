/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - --complete, for the shells' completions in packaging/. */
#pragma once
#include <stdio.h>

struct resolve_env;

/* What may stand where TEXT begins the argument of an option ("-l"): a line each,
 * "CANDIDATE\tHELP". None: the shell knows more, as of files and processes. */
void complete_argument(struct resolve_env *env, const char *option, const char *text, FILE *out);
