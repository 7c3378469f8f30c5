/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - libraries that are loaded when first needed: library.c uses dlopen(). With
 * -Dstatic=true they are linked in, and library_static.c has a table of their functions. */
#pragma once
#include <stdbool.h>

void *library_open(const char *soname); /* NULL: it is not there */
void *library_symbol(void *library, const char *name); /* NULL: it has none of that name */
void library_close(void *library);
/* -Dstatic=true: libraries that are not linked in cannot be opened. */
extern const bool libraries_are_linked;
