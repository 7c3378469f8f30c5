// SPDX-License-Identifier: Apache-2.0
/* aborts.c - a program that aborts below ld.so. $ABORTS chooses the place: a constructor of a library that it is linked
 * with (start) or that it opens (open), or code that runs to bind a lazily bound function (bind).
 * -DLIBRARY builds the library, -DLIBRARY=1 the library that is opened.
 *
 *     aborts LIBRARY */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FRAME static __attribute__((noinline))

int bound(int n);

#ifdef LIBRARY
FRAME void abort_if(const char *what)
{
	const char *wanted = getenv("ABORTS");

	if (wanted && !strcmp(wanted, what))
		abort();
}

__attribute__((constructor)) static void initialize(void)
{
	abort_if(LIBRARY ? "open" : "start");
	__asm__ volatile("");
}

static int add_one(int n)
{
	return n + 1;
}

static int (*choose(void))(int)
{
	abort_if("bind");
	return add_one;
}

int bound(int n) __attribute__((ifunc("choose")));
#else
FRAME int opener(const char *path)
{
	return dlopen(path, RTLD_NOW) != NULL;
}

FRAME int caller(int n)
{
	return bound(n) + 1;
}

int main(int argc, char **argv)
{
	return argc > 1 && opener(argv[1]) ? caller(argc) - argc - 2 : 1;
}
#endif
