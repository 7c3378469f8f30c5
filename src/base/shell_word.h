/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.h - a command line as text for a shell. */
#pragma once
struct str;

/* Appends a space, and the word in quotes that a POSIX shell, or fish, removes. */
void shell_word(const char *word, struct str *out);
