// SPDX-License-Identifier: Apache-2.0
/* registers.c - stacks that need a register other than sp and fp: vfork() of x86_64 has its return address in rdi,
 * and ld.so's lazy binding finds its frame from rbx. The program binds getpgrp() lazily. */
#include <sys/wait.h>
#include <unistd.h>

#define FRAME static __attribute__((noinline)) int

FRAME inner(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return waitpid(pid, NULL, 0) != pid;
}

FRAME outer(void)
{
	int r = getpgrp();

	return inner() + (r < 0);
}

int main(void)
{
	return outer() != 0;
}
