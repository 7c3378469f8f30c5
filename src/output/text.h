// SPDX-License-Identifier: Apache-2.0
/* text.h - maps and values as text: of -f text, and for a person beside other formats. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct map_content;
struct picture;
struct show;
struct str;
struct type;

/* shares: for a person: of a map of stacks what each is of the total, and the hottest functions; numbers stand
 * below one another. */
void text_map(const struct show *s, const struct map_content *c, bool shares, FILE *out);
/* Are values of this type parts of a whole: counts, sums, and what averages are of? */
bool text_has_shares(const struct type *t);
/* A number or an aggregation's value. */
void text_number(const struct type *t, const uint8_t *value, int64_t div, struct str *out);
/* "@name: total in n stacks; the `first` smallest (..) are not shown"; left_out: their share in percent. */
void text_total(const char *name, double total, size_t n, size_t first, double left_out, FILE *out);
enum {
	TEXT_HOTTEST = 10,   /* functions in a table */
	TEXT_FEW_STACKS = 5, /* are looked at as they stand */
};
/* With a "\n". */
void text_value(const struct show *s, const struct type *t, const uint8_t *data, FILE *out);
/* A recording, see output.render. */
int text_recorded(const struct picture *p, FILE *file);
