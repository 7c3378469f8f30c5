/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - libraries that are opened when first needed: library.c by dlopen(); where all is
 * linked into the program (-Dstatic=true), library_static.c has what is in it. */
#pragma once

void *library_open(const char *soname); /* NULL: it is not there */
void *library_symbol(void *library, const char *name); /* NULL: it has none of that name */
void library_close(void *library);
