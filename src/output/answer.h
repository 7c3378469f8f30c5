/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - the answer of a map keyed by stacks in one line: the program's own function with the largest share. */
#pragma once
#include <stdio.h>

struct map_content;
struct show;

/* Prints "90 % of @cpu: compress /app/x.py:42 <- handle /app/x.py:60 <- worker /app/x.py:67". Prints nothing if the
 * map has no stacks in its key, or no values that are parts of a whole. */
void answer_print(const struct show *s, const struct map_content *c, FILE *out);
