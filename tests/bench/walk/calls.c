/* SPDX-License-Identifier: Apache-2.0 */
/* calls N US SECONDS [TEXT] - bursts of N getuid(), US microseconds apart. 0: without a pause. With a text, the call
 * is faccessat(TEXT), which refuses the mode before it reads the text. Prints the mean ns of a call. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void call(const char *text)
{
	if (text)
		syscall(SYS_faccessat, AT_FDCWD, text, 0xff);
	else
		syscall(SYS_getuid);
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[1]) : 1, pause = argc > 3 ? atol(argv[2]) : 0;
	int64_t end = now() + (argc > 3 ? atol(argv[3]) : 1) * (int64_t)1000000000, spent = 0, calls = 0;

	while (now() < end) {
		int64_t from = now();

		for (long i = 0; i < n; i++)
			call(argc > 4 ? argv[4] : NULL);
		spent += now() - from;
		calls += n;
		if (pause)
			usleep((useconds_t)pause);
	}
	printf("%.1f\n", (double)spent / (double)calls);
	return 0;
}
