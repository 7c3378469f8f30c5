/* SPDX-License-Identifier: Apache-2.0 */
/* probe_filter.h - the regular expressions of --probe-filter. */
#pragma once
#include <regex.h>

/* Returns 0 on success, or an error for regerror(), as regcomp() does. */
int probe_filter_compile(regex_t *ret, const char *text);
