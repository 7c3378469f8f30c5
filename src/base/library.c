// SPDX-License-Identifier: Apache-2.0
/* library.c - opens libraries with the system's loader. */
#include "library.h"

#include <dlfcn.h>

const bool libraries_are_linked = false;

void *library_open(const char *soname)
{
	return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

void *library_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

void library_close(void *library)
{
	dlclose(library);
}
