// SPDX-License-Identifier: Apache-2.0
/* demangle.h - names of functions as their authors wrote them. */
#pragma once
#include <stdbool.h>

/* A string to be free()d, or NULL: the name is not mangled. Untrusted input. */
char *demangle(const char *name);
/* For the whole process: false leaves names as they are. */
void demangle_enable(bool on);
