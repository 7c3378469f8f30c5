// SPDX-License-Identifier: Apache-2.0
/* help.h - what a name of the language is, from the rows that define it. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

/* A builtin, a type of probe, a statement, a setting, an output format: what it is called with, what it does, an
 * example. "all": the whole language. false: there is none of that name, which was reported. */
bool help_name(const char *name, FILE *out);
