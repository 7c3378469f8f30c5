// SPDX-License-Identifier: Apache-2.0
/* text.h - maps and values as text: of -f text, and for a person beside other formats. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct map_content;
struct show;
struct type;

/* shares: of a map of stacks, what each is of the total, and the hottest functions. */
void text_map(const struct show *s, const struct map_content *c, bool shares, FILE *out);
/* With a "\n". */
void text_value(const struct show *s, const struct type *t, const uint8_t *data, FILE *out);
