/* SPDX-License-Identifier: Apache-2.0 */
/* key_parts.h - names for the parts of a map's key, by the script's text: "comm, args.fd". */
#pragma once

struct str;

/* Appends the name of part i of n. key_text: image_map.key_text. The name is "key" if the text has another number of
 * parts, or is NULL. */
void key_part_name(const char *key_text, unsigned i, unsigned n, struct str *out);
