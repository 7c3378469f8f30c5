// SPDX-License-Identifier: Apache-2.0
/* arm64.c - calls a function of arm64.S. Usage: arm64 SHAPE [in], which dies in the shape, or in the function that it
 * calls. */
#include <stdlib.h>
#include <string.h>

static volatile int two = 2;

#define SHAPES(S) S(leaf) S(pushes) S(sub) S(single) S(tail) S(loop) S(align) S(signed) S(table)

#define CALL(shape)                                                                       \
	int arm_##shape(long dies);                                                      \
	__attribute__((noinline)) static int call_##shape(long dies)                     \
	{                                                                                \
		return arm_##shape(dies) * two;                                          \
	}
SHAPES(CALL)

int main(int argc, char **argv)
{
#define TRY(shape)                                                                        \
	if (argc > 1 && !strcmp(argv[1], #shape))                                        \
		two += call_##shape(argc > 2);
	SHAPES(TRY)
	return two;
}
