/* SPDX-License-Identifier: Apache-2.0 */
/* execs N PROGRAM - runs the program N times, one after another. Prints the mean ns of one by the clock, and
 * of CPU time. */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static int64_t cpu(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * (int64_t)1000000000 +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * (int64_t)1000;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	int64_t start = now();

	for (long i = 0; i < n; i++) {
		pid_t pid;

		if (posix_spawn(&pid, argv[2], NULL, NULL, &argv[2], environ))
			return 1;
		waitpid(pid, NULL, 0);
	}
	if (!n)
		return 1;
	printf("%lld %lld\n", (long long)(now() - start) / n,
		(long long)(cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN)) / n);
	return 0;
}
