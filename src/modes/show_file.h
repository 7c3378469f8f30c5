// SPDX-License-Identifier: Apache-2.0
/* show_file.h - strata show FILE converts a recording to any format. */
#pragma once
#include <stdio.h>

/* argv[0] is "show". Returns the exit status; errors were reported. */
int show_main(int argc, char **argv);
/* Prints the options that begin with the text, including "--", each with its help: a line "NAME\tHELP". */
void show_complete(const char *text, FILE *out);
