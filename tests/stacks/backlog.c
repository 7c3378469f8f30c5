// SPDX-License-Identifier: Apache-2.0
/* backlog.c - a process that maps many files, and another whose calls are traced at the same time.
 *
 *     backlog map       maps the files that standard input names, prints a line, and waits for its end
 *     backlog call N    calls getppid() N times, a millisecond apart, with 16 KiB of stack below
 *     backlog fork N    reads a byte, then N children do call 1, one after the other */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size)
		mmap(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
}

static void map_all(void)
{
	char path[4096];

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = 0;
		map(path);
	}
	puts("mapped");
	fflush(stdout);
	sleep(600);
}

__attribute__((noinline)) static int call(int n)
{
	volatile char below[16384]; /* only its first byte is ever written to */

	below[0] = 1;
	for (int i = 0; i < n; i++) {
		below[0] = (char)getppid();
		usleep(1000);
	}
	return below[0];
}

static int call_in_children(int n)
{
	getchar();
	for (int i = 0; i < n; i++) {
		if (!fork())
			_exit(call(1) == 2);
		wait(NULL);
	}
	puts("done");
	fflush(stdout);
	sleep(600);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "call"))
		return call(atoi(argv[2])) == 1;
	if (argc == 3 && !strcmp(argv[1], "fork"))
		return call_in_children(atoi(argv[2]));
	map_all();
	return 0;
}
