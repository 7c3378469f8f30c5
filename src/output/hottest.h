// SPDX-License-Identifier: Apache-2.0
/* hottest.h - the functions of a map of stacks by shares of the total: their own; their own with their callees'; and
 * the program's own functions with the libraries that they call. This is a person's answer, before the stacks
 * themselves. */
#pragma once
#include <stdio.h>

struct frame_list;
struct hottest;

struct hottest *hottest_new(void); /* running out of memory ends the program */
void hottest_free(struct hottest *h);

/* Adds a stack, innermost frame first, and its share in percent. A list may be several stacks. */
void hottest_add(struct hottest *h, const struct frame_list *stack, double share);
/* Prints tables of at most n functions: the program's own, by self, by total. */
void hottest_print(const struct hottest *h, size_t n, FILE *out);
