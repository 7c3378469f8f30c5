// SPDX-License-Identifier: Apache-2.0
/* shapes.c - calls the functions of shapes.S until it is killed. */
#define SHAPES(S) S(leaf) S(pushes) S(sub) S(tail) S(loop) S(table) S(align) S(align_fp)
#define S(name) void shape_##name(long spins);
SHAPES(S)
#undef S

static volatile long sink;

#define S(name)                                                        \
	__attribute__((noinline)) static void call_##name(long spins)  \
	{                                                              \
		shape_##name(spins);                                   \
		sink++;                                                \
	}
SHAPES(S)
#undef S

int main(void)
{
	for (;;) {
#define S(name) call_##name(100000);
		SHAPES(S)
#undef S
	}
}
