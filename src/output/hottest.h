// SPDX-License-Identifier: Apache-2.0
/* hottest.h - the functions of a map of stacks, by how much of the total they have: alone, and
 * with what they call. For a person: the answer before the evidence. */
#pragma once
#include <stdio.h>

struct frame_list;
struct hottest;

struct hottest *hottest_new(void); /* running out of memory ends the program */
void hottest_free(struct hottest *h);

/* A stack, innermost frame first, and its share in percent. A list may be several stacks. */
void hottest_add(struct hottest *h, const struct frame_list *stack, double share);
/* Two tables of at most n functions. */
void hottest_print(const struct hottest *h, size_t n, FILE *out);
