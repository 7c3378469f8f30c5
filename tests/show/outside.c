// SPDX-License-Identifier: Apache-2.0
/* outside.c - a program and a library (-DLIBRARY) whose names outside.py makes hostile: those of their files,
 * of functions, whose placeholders it overwrites, and of the thread, which is argv[2]. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((noinline, visibility("hidden")))

static volatile unsigned long sink;

#ifdef LIBRARY
HIDDEN void library_placeholder_0123456789(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

void work(unsigned n)
{
	library_placeholder_0123456789(n);
	sink++;
}
#else
HIDDEN void program_placeholder_0123456789(void (*work)(unsigned))
{
	work(200000);
	sink++;
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*work)(unsigned) = library ? (void (*)(unsigned))dlsym(library, "work") : NULL;

	if (!work)
		return 1;
	prctl(PR_SET_NAME, argv[2]);
	puts("ready");
	fflush(stdout);
	for (time_t end = time(NULL) + 300; time(NULL) < end;)
		program_placeholder_0123456789(work);
}
#endif
