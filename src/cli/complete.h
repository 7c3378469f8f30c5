/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - --complete, for the shell completions in packaging/. */
#pragma once
#include <stdio.h>

struct request;

/* What may stand where TEXT begins the argument of an option ("-l"): a line each,
 * "CANDIDATE\tHELP". None: the shell knows more, as of files and processes. */
void complete_argument(struct request *req, const char *option, const char *text, FILE *out);
