// SPDX-License-Identifier: Apache-2.0
/* show.h - strata show FILE: a recording made into any format. */
#pragma once
#include <stdio.h>

/* argv[0] is "show". An exit status; errors were reported. */
int show_main(int argc, char **argv);
/* Its options that begin with the text, "--" included, each with its help: a line "NAME\tHELP". */
void show_complete(const char *text, FILE *out);
