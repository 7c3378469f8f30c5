// SPDX-License-Identifier: Apache-2.0
/* late.c - a process that changes (exec, dlopen) while its tracer is stopped.
 *
 *     late calls                  calls getppid() below functions of its own
 *     late exec PROGRAM ARG...    reads a byte, then runs PROGRAM
 *     late open FILE ARG...       reads a byte, then opens FILE and calls its main()
 *     late deep                   calls getppid() on deep stacks, more often than the kernel half asks
 *                                 a tracer that does not answer
 *
 * It is built as several programs at the same addresses, whose functions differ in NAME. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALLS 200
#define DEEP  3000
#define PASTE(a, b) a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FUNCTION(what) EXPAND(NAME, what)

#ifdef PADDING /* moves the functions away from their addresses in the other program */
__attribute__((used)) static int padding(int n)
{
	__attribute__((unused)) volatile char room[PADDING] = {(char)n};

	for (int i = 1; i < PADDING; i++)
		room[i] = (char)(room[i - 1] * 3 + i);
	return room[PADDING - 1] + getpid();
}
#endif

__attribute__((noinline)) void FUNCTION(inner)(void)
{
	__attribute__((unused)) volatile char room[64 * SIZE] = {0};

	for (int i = 0; i < CALLS; i++)
		room[i % 64] = (char)getppid();
}

__attribute__((noinline)) void FUNCTION(middle)(void)
{
	__attribute__((unused)) volatile char room[32 * SIZE] = {0};

	FUNCTION(inner)();
	room[1] = 1;
}

__attribute__((noinline)) void FUNCTION(outer)(void)
{
	__attribute__((unused)) volatile char room[16 * SIZE] = {0};

	FUNCTION(middle)();
	room[1] = 1;
}

__attribute__((noinline)) int FUNCTION(deep)(int depth)
{
	__attribute__((unused)) volatile char room[3000] = {(char)depth};

	return (depth ? FUNCTION(deep)(depth - 1) : getppid()) + room[depth];
}

static int open_and_run(int argc, char **argv)
{
	void *file = dlopen(argv[0], RTLD_NOW);
	int (*other)(int, char **) = file ? (int (*)(int, char **))dlsym(file, "main") : NULL;

	if (!other) {
		fprintf(stderr, "late: %s\n", dlerror());
		return 2;
	}
	return other(argc, argv);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "calls";

	if (!strcmp(what, "exec") || !strcmp(what, "open"))
		getchar(); /* the tracer is stopped meanwhile */
	if (!strcmp(what, "calls"))
		FUNCTION(outer)();
	else if (!strcmp(what, "deep"))
		for (int i = 0; i < DEEP; i++)
			FUNCTION(deep)(12);
	else if (!strcmp(what, "open"))
		return open_and_run(argc - 2, argv + 2);
	else
		execv(argv[2], argv + 2);
	return 0;
}
