// SPDX-License-Identifier: Apache-2.0
/* words.h - words that may stand for an option: strata help, strata list. */
#pragma once

/* Replaces the words of "help", "help WORD" and "list PATTERN" by options, so that "help cpu" is "cpu --help".
 * So is "--help cpu". */
void words_replace(int argc, char **argv);
