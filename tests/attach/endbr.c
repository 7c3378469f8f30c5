// SPDX-License-Identifier: Apache-2.0
/* endbr.c N - calls marked(), plain() and loops() N times, and prints the nanoseconds of a call of the first two.
 * marked() begins with endbr64, as compilers make it for -fcf-protection. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__asm__(".text\n"
	".macro begin name\n"
	".globl \\name\n.type \\name, @function\n\\name:\n.cfi_startproc\n"
	".endm\n"
	".macro finish name\n"
	"ret\n.cfi_endproc\n.size \\name, . - \\name\n"
	".endm\n"
	"begin marked\nendbr64\npush %rbx\n.cfi_adjust_cfa_offset 8\nlea 1(%rdi), %rax\npop %rbx\n"
	".cfi_adjust_cfa_offset -8\nfinish marked\n"
	"begin plain\npush %rbx\n.cfi_adjust_cfa_offset 8\nlea 1(%rdi), %rax\npop %rbx\n.cfi_adjust_cfa_offset -8\n"
	"finish plain\n"
	"begin loops\nendbr64\n1: push %rdi\n.cfi_adjust_cfa_offset 8\npop %rax\n.cfi_adjust_cfa_offset -8\ndec %rdi\n"
	"jnz 1b\nfinish loops\n");
extern long marked(long), plain(long), loops(long);

static double call(long (*f)(long), long n)
{
	struct timespec from, to;
	long sum = 0;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long i = 0; i < n; i++)
		sum += f(i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	if (sum != n * (n + 1) / 2)
		exit(1);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)n;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	double of_marked = call(marked, n), of_plain = call(plain, n);

	for (long i = 0; i < n / 10; i++)
		loops(10);
	printf("%.0f %.0f\n", of_marked, of_plain);
	return 0;
}
