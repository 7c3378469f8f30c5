/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - checks for a test program: a failed one prints its place. main() returns `failed`. */
#pragma once
#include <stdio.h>
#include <string.h>

static int failed;

#define CHECK(cond)                                                                      \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);       \
			failed = 1;                                                      \
		}                                                                        \
	} while (0)

/* Either may be NULL. */
#define CHECK_STR(seen, want) check_str(__FILE__, __LINE__, seen, want)

__attribute__((unused)) static void check_str(const char *file, int line, const char *seen, const char *want)
{
	if (seen == want || (seen && want && !strcmp(seen, want)))
		return;
	fprintf(stderr, "%s:%d: '%s' is not '%s'\n", file, line, seen ? seen : "NULL", want ? want : "NULL");
	failed = 1;
}
