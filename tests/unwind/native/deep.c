// SPDX-License-Identifier: Apache-2.0
/* deep.c - makes CALLS calls, each with another stack that is larger than the copy that a walk sends
 * to userspace. It prints the frames, then calls getppid() in the innermost. With a second argument it
 * overwrites the former stack with zeros and reads a byte. See moved.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 16
#define LARGE 30000 /* the copy has 32 KiB */

static unsigned call;

/* The compiler does not know the use of this memory, so it keeps the function and its callers. */
#define KEEP(memory) __asm__ volatile("" : : "r"(memory) : "memory")

int bottom(void);
int a(int n);
int b(int n);

__attribute__((noinline)) int bottom(void)
{
	char large[LARGE];

	memset(large, (int)call, sizeof(large));
	KEEP(large);
	getppid();
	return large[3];
}

#define NEXT(n, plus)                                                            \
	char pad[300];                                                           \
	int r;                                                                   \
	memset(pad, (int)((unsigned)(n) + call), sizeof(pad));                   \
	KEEP(pad);                                                               \
	if (!(n))                                                                \
		r = bottom();                                                    \
	else                                                                     \
		r = call * 2654435761u >> (n) & 1 ? a((n) - 1) : b((n) - 1);     \
	KEEP(pad);                                                               \
	return r + plus

__attribute__((noinline)) int a(int n) { NEXT(n, 1); }
__attribute__((noinline)) int b(int n) { NEXT(n, 2); }

__attribute__((noinline)) static void wipe(void)
{
	char zeros[2000]; /* less than what lies above the copy */

	memset(zeros, 0, sizeof(zeros));
	KEEP(zeros);
}

int main(int argc, char **argv)
{
	char byte;
	unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 200;

	read(-1, &byte, 0); /* makes the loader bind read() here; later it would overwrite the stack under test */
	for (call = 1; call <= calls; call++) {
		for (int n = 1; n <= DEPTH; n++)
			putchar(call * 2654435761u >> n & 1 ? 'a' : 'b');
		putchar('\n');
		fflush(stdout);
		a(DEPTH);
		if (argc > 2) {
			wipe();
			read(0, &byte, 1);
		}
		usleep(300); /* userspace finishes the first walks */
	}
	return 0;
}
