/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_line.h - what -f json writes of a value or a map without stacks, as -f text prints it. */
#pragma once
#include <stdbool.h>

struct json;
struct json_object;
struct str;

/* Appends the text of the line, made safe for a terminal. False: the line is none of these. */
bool recorded_line_text(const struct json *json, struct json_object *line, struct str *out);
