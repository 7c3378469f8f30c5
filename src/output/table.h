/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - maps with equal keys as one table for a person: a row for each key, a column for each map. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct image_map;
struct map_content;
struct show;

/* Finds the maps of the table, in the order of the list: those with the key type of the first one that has a key
 * without stacks, and those whose key also has a stack at its end; their column is the function in which most of the
 * value is. *ret_in: an array of n. Returns false if there is no table. */
bool table_find(const struct image_map *const *maps, size_t n, bool *ret_in);
/* Prints the table: the largest value of the first column of numbers comes first. Returns the number of rows that
 * were left out because their stacks are idle. */
size_t table_print(const struct show *s, const struct map_content *maps, size_t n, FILE *out);
