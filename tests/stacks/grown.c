// SPDX-License-Identifier: Apache-2.0
/* grown.c - a process that gets a language while it is traced. It counts in C until it can read a line, then
 *     grown load LIBPYTHON PROGRAM     runs the text of a Python program in itself
 *     grown exec PROGRAM ARG..         becomes another program */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long counted;

__attribute__((noinline)) static void count_in_c(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (poll(&input, 1, 0) == 0)
		for (int i = 0; i < 100000; i++)
			counted++;
}

static int run_python(const char *library, const char *text)
{
	void *python = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	void (*start)(int) = python ? (void (*)(int))dlsym(python, "Py_InitializeEx") : NULL;
	int (*run)(const char *) = python ? (int (*)(const char *))dlsym(python, "PyRun_SimpleString") : NULL;

	if (!start || !run) {
		fprintf(stderr, "grown: %s\n", dlerror());
		return 1;
	}
	start(0);
	return run(text);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	count_in_c();
	if (!strcmp(argv[1], "load") && argc > 3)
		return run_python(argv[2], argv[3]);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
