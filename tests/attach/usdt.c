// SPDX-License-Identifier: Apache-2.0
/* usdt.c - a program with USDT probes: it waits for a line, then reaches each probe and prints its arguments. */
#include "usdt.h"

#include <stdio.h>

unsigned short shop_asked_semaphore __attribute__((section(".probes")));
long in_memory __attribute__((used)) = 77;
static const char word[] = "word";

/* Operands in registers, in memory and constants, of all sizes and both signs. */
static __attribute__((noinline)) void kinds(int a, unsigned long b, short c, signed char d)
{
	volatile int stack = a - 1;
	volatile unsigned char byte = (unsigned char)d;
	volatile double real = 0.5;

	PROBE("shop", "kinds", "0", "-4@%0 8@%1 -2@%2 -1@%3 -4@%4 1@%5 -4@%6 4@%6 8f@%7", "nor"(a), "nor"(b), "nor"(c),
		"nor"(d), "m"(stack), "m"(byte), "n"(-5), "m"(real));
	printf("kinds %d %lu %d %d %d %u -5 4294967291\n", a, b, c, d, stack, byte);
}

/* An address that is a sum, and one that is a symbol. */
static __attribute__((noinline)) void sums(const long *list, long i)
{
#ifdef __x86_64__
	PROBE("shop", "sums", "0", "-8@(%0,%1,8) -8@8(%0,%1,8) -8@in_memory(%%rip) 8@$%c2", "r"(list), "r"(i), "n"(9));
#else
	PROBE("shop", "sums", "0", "-8@[%0, %1, lsl 3] -8@[%2] -8@%3 8@%4", "r"(list), "r"(i), "r"(&list[i + 1]),
		"r"(in_memory), "n"(9));
#endif
	printf("sums %ld %ld %ld 9\n", list[i], list[i + 1], in_memory);
}

/* One name at three places, with different arguments. */
static __attribute__((noinline)) void places(int a)
{
	volatile long there = 3 * a;

	PROBE("shop", "place", "0", "-4@%0", "r"(a));
	PROBE("shop", "place", "0", "-8@%0 -4@%1", "m"(there), "n"(2));
	PROBE("shop", "place", "0", "");
	printf("place %d 0\nplace %ld 2\nplace 0 0\n", a, there);
}

static __attribute__((noinline)) void asked(int a)
{
	if (shop_asked_semaphore)
		PROBE("shop", "asked", "shop_asked_semaphore", "-4@%0", "nor"(a));
	printf("asked %d %d\n", shop_asked_semaphore != 0, a);
}

static __attribute__((noinline)) void text(const char *s)
{
	PROBE("other", "place", "0", "8@%0", "r"(s));
	printf("text %s\n", s);
}

int main(void)
{
	static const long list[] = {11, -22, 33, 44};

	if (getchar() == EOF)
		return 1;
	for (int i = 1; i <= 3; i++) {
		kinds(-i, 1ul << 63 | i, (short)-i, (signed char)-i);
		sums(list, i - 1);
		places(i);
		asked(i);
		text(word);
	}
	return 0;
}
