/* SPDX-License-Identifier: Apache-2.0 */
/* probe_filter.h - the regular expressions of --probe-filter. */
#pragma once
#include <regex.h>

/* As regcomp(): 0, or an error for regerror(). */
int probe_filter_compile(regex_t *ret, const char *text);
