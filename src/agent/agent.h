/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - strata agent [DIR]: runs the scripts of a directory as units, until a signal ends it. Each unit is a
 * process of its own: its maps have a scope, its CPU time is counted, and its crash is its own. */
#pragma once
#include <stdio.h>

/* argv[0] is "agent". Returns the exit status. */
int agent_main(int argc, char **argv);
/* Prints a line for each option that begins with text: its name, a tab, its help. */
void agent_complete(const char *text, FILE *out);
