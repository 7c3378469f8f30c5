// SPDX-License-Identifier: Apache-2.0
/* reload.c - opens and closes two libraries in turn, which the kernel maps at the same address, and runs a function of
 * each. A function is called by the one with its name: other pairs are wrong.
 *
 *     reload A.so B.so CYCLES MICROSECONDS
 *
 * Waits for a line before it begins, and prints how often the address was the same. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*function)(void);

__attribute__((noinline)) int run_alpha(function f)
{
	int r = f();

	__asm__ volatile("");
	return r;
}

__attribute__((noinline)) int run_beta(function f)
{
	int r = f();

	__asm__ volatile("");
	return r;
}

static uintptr_t cycle(const char *path, int second, unsigned pause)
{
	void *library = dlopen(path, RTLD_NOW);
	function f = library ? (function)dlsym(library, second ? "beta" : "alpha") : NULL;

	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 3; i++) {
		if (second)
			run_beta(f);
		else
			run_alpha(f);
		if (i == 1 && pause)
			usleep(pause);
	}
	dlclose(library);
	return (uintptr_t)f;
}

int main(int argc, char **argv)
{
	int cycles = argc == 5 ? atoi(argv[3]) : 0, same = 0;
	uintptr_t last = 0, now;

	while (getchar() != '\n' && !feof(stdin))
		;
	for (int i = 0; i < cycles; i++) {
		now = cycle(argv[1 + i % 2], i % 2, (unsigned)atoi(argv[4])) >> 12;
		same += now == last;
		last = now;
	}
	printf("%d\n", same);
	return 0;
}
