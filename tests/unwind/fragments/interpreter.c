// SPDX-License-Identifier: Apache-2.0
/* interpreter.c - an interpreter whose loop GCC moves to a cold fragment, except its entry.
 *
 * GCC did so with CPython 3.12 on Alpine 3.20: the main fragment, which the symbol names, has
 * 362 bytes, the cold one 56,543. Here the instructions call a cold function, which makes
 * them cold. The program prints every return address within the loop, as a vaddr. */
#include <stdint.h>
#include <stdio.h>

#define TEN(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7) X(a##8) X(a##9)
#define ALL(X)                                                                           \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8)  \
	TEN(X, 9) TEN(X, 10) TEN(X, 11) TEN(X, 12) TEN(X, 13) TEN(X, 14) TEN(X, 15)      \
	TEN(X, 16) TEN(X, 17) TEN(X, 18) TEN(X, 19) TEN(X, 20) TEN(X, 21) TEN(X, 22)

#define FIRST 10
#define LAST  229

extern const char __ehdr_start; /* defined by the linker; vaddr 0, since the program is linked with -pie */

__attribute__((cold, noinline)) static uint64_t rare(uint64_t v, unsigned n)
{
	printf("%lx\n", (const char *)__builtin_return_address(0) - &__ehdr_start);
	return v * 31 + n;
}

/* The loop tail-calls this function next to it; nothing jumps back from here to the loop. */
__attribute__((noinline)) uint64_t small_result(uint64_t v)
{
	return v % 1000;
}

#define STEP(n, k) if (v & 1 << (k)) v = rare(v ^ (n), (n) + (k));
#define LABEL(n) &&op##n,
#define CODE(n)                                                                          \
	op##n:                                                                           \
		v = rare(v, n);                                                          \
		STEP(n, 1) STEP(n, 2) STEP(n, 3) STEP(n, 4) STEP(n, 5) STEP(n, 6)        \
		if (v == n)                                                              \
			goto add;                                                        \
		goto *labels[*code++];

__attribute__((noinline)) uint64_t small_eval(const uint8_t *code, uint64_t v)
{
	static const void *const labels[256] = {&&stop, &&add, [FIRST] = ALL(LABEL)};

	if (v > 1)
		goto op100;
	goto *labels[*code++];
add:
	v += 7;
	goto *labels[*code++];
stop:
	return small_result(v);
	ALL(CODE)
}

int main(void)
{
	uint8_t code[3 * (LAST - FIRST + 1) + 2], *p = code;

	for (int round = 0; round < 3; round++)
		for (int i = FIRST; i <= LAST; i++)
			*p++ = i;
	*p++ = 1;
	*p++ = 0;
	return small_eval(code, 1) == 1000;
}
