/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - --complete, for the shell completions in packaging/. */
#pragma once
#include <stdio.h>

struct request;

/* Prints the candidates for an argument of an option ("-l") that begins with TEXT, one line each:
 * "CANDIDATE\tHELP". Prints none if the shell knows them, such as files and processes. */
void complete_argument(struct request *req, const char *option, const char *text, FILE *out);
