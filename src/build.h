// SPDX-License-Identifier: Apache-2.0
/* build.h - strata build: a script becomes a program that needs no compiler. */
#pragma once

struct options;

/* Handles strata build --help. */
void build_help(void);
/* Writes the program of the script that the command line names to -o. Returns the exit status. */
int build_program(struct options *o);
