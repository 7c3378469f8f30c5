/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_line.h - turns a line of -f json, for a value or a map without stacks, into the text of -f text. */
#pragma once
#include <stdbool.h>

struct json;
struct json_object;
struct str;

/* Appends the line's text, made safe for a terminal. Returns false for other lines. */
bool recorded_line_text(const struct json *json, struct json_object *line, struct str *out);
