// SPDX-License-Identifier: Apache-2.0
/* demangle.h - demangled names of functions. */
#pragma once
#include <stdbool.h>

/* Returns a string that the caller free()s, or NULL if the name is not mangled. The name is untrusted. */
char *demangle(const char *name);
/* For the whole process: false leaves names mangled. */
void demangle_enable(bool on);
