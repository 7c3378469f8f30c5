// SPDX-License-Identifier: Apache-2.0
/* deep.c - goes down DEPTH frames and hits bottom() a million times a second. */
#include <stdlib.h>

volatile int sink;

__attribute__((noinline, used)) int bottom(int n);
__attribute__((noinline, used)) int bottom(int n)
{
	sink = n;
	return n;
}

/* Three functions with frames of different sizes, as in real stacks. */
__attribute__((noinline)) static int down(int n);
#define STEP(name, words)                                                                \
	__attribute__((noinline)) static int name(int n)                                 \
	{                                                                                \
		volatile long local[words];                                              \
                                                                                         \
		local[0] = n;                                                            \
		return down(n - 1) + local[0];                                           \
	}
STEP(small, 1)
STEP(middle, 6)
STEP(big, 16)

static int down(int n)
{
	if (n <= 0) {
		for (int i = 0; i < 200; i++)
			sink += bottom(i);
		return n;
	}
	return (n % 3 == 0 ? small(n) : n % 3 == 1 ? middle(n) : big(n)) + 1;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 100;

	for (;;)
		down(depth);
}
