// SPDX-License-Identifier: Apache-2.0
/* help.h - help for a name of the language, from the row that defines it. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

/* Prints syntax, effect and an example of a builtin, a type of probe, a statement, a setting or an output
 * format; for "all", of the whole language. Returns false after an error if there is no such name. */
bool help_name(const char *name, FILE *out);
