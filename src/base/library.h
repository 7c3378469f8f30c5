/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - libraries that are loaded at the first use. library.c uses dlopen(). With -Dstatic=true the
 * libraries are linked in, and library_static.c has a table of their functions. */
#pragma once
#include <stdbool.h>

void *library_open(const char *soname); /* returns NULL if the library is not installed */
void *library_symbol(void *library, const char *name); /* returns NULL if the library has no such symbol */
void library_close(void *library);
/* True with -Dstatic=true: libraries that are not linked in cannot be opened. */
extern const bool libraries_are_linked;
