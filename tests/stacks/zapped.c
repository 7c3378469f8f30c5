// SPDX-License-Identifier: Apache-2.0
/* zapped.c - zapped FRAMES CALLS: a thread FRAMES deep calls getppid() while most pages of its stack are not in its
 * page table, like after the kernel has moved them, or checks their use (NUMA balancing). The stack is shared
 * memory: pages that were removed from the table still exist, and come back at the next access. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_SIZE = 1 << 20, PAGE = 4096 };

static char *stack;
static int calls;

static void zap(void)
{
	char here, *from = (char *)(((uintptr_t)&here + 2 * PAGE) & ~(uintptr_t)(PAGE - 1));

	if (madvise(from, (size_t)(stack + STACK_SIZE - from), MADV_DONTNEED))
		abort();
}

__attribute__((noinline)) static int deeper(int n)
{
	volatile char frame[500];

	frame[0] = 1;
	if (n)
		return deeper(n - 1) + frame[0];
	for (int i = 0; i < calls; i++) {
		zap();
		frame[0] = (char)getppid();
		usleep(10000);
	}
	puts("called"); /* the tracer may still read the last stacks: they stay until the standard input ends */
	fflush(stdout);
	getchar();
	return frame[0];
}

static void *run(void *arg)
{
	return (void *)(intptr_t)deeper(*(int *)arg);
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	int frames = argc > 1 ? atoi(argv[1]) : 0;

	calls = argc > 2 ? atoi(argv[2]) : 1;
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 1;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_SIZE);
	if (pthread_create(&thread, &attr, run, &frames))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
