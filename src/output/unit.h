/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - numbers with units, for a person. The end of a map's name gives the unit: @waited_us, @bytes. */
#pragma once
#include <stdbool.h>

struct str;

enum unit { UNIT_NONE, UNIT_NS, UNIT_US, UNIT_MS, UNIT_S, UNIT_BYTES };

enum unit unit_of(const char *name);
/* Appends "2.37 s", "12.3 ms", "45 us", "1.2 MB", or the plain number. */
void unit_add(enum unit unit, double value, struct str *out);
