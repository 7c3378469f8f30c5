/* SPDX-License-Identifier: Apache-2.0 */
/* typos.h - words and options of the command line that do not exist, and those that were meant. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct tool;

/* Logs a hint about a word that is neither a script nor a tool: "did you mean strata cpu?" */
void typos_hint_word(const char *word);
/* Checks an option of a tool, "NAME" or "NAME=VALUE", before the script is read. names: the n names of strata's
 * options. Returns false after an error. */
bool typos_check_option(const struct tool *t, const char *option, const char *const *names, size_t n);
