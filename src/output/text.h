// SPDX-License-Identifier: Apache-2.0
/* text.h - maps and values as text: for -f text, and for a person with other formats. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct map_content;
struct picture;
struct show;
struct str;
struct type;

/* shares: for a person: each stack's share of the total, and the hottest functions; numbers are aligned. */
void text_map(const struct show *s, const struct map_content *c, bool shares, FILE *out);
/* Appends a part of a key of several parts, after a separator unless it is the first. Skips an empty stack if
 * skips_empty. *any: whether a part was appended. */
void text_key_part(const struct str *part, bool skips_empty, bool *any, struct str *out);
/* Returns whether values of this type are parts of a whole: counts, sums, and the sums of averages. */
bool text_has_shares(const struct type *t);
/* Returns whether it is a number or an aggregation with one. */
void text_number(const struct type *t, const uint8_t *value, int64_t div, struct str *out);
/* Prints "@name: total in n stacks; the `first` smallest (..) are not shown"; left_out: their share in percent. */
void text_total(const char *name, double total, size_t n, size_t first, double left_out, FILE *out);
enum {
	TEXT_HOTTEST = 10,   /* functions in a table */
	TEXT_FEW_STACKS = 5, /* maximum number of stacks printed without a summary */
};
/* Appends a "\n", too. */
void text_value(const struct show *s, const struct type *t, const uint8_t *data, FILE *out);
/* Prints a recording, see output.render. */
int text_recorded(const struct picture *p, FILE *file);
