// SPDX-License-Identifier: Apache-2.0
/* forms.c - a program that uprobes are attached to in all forms: it is compiled with debug information, and
 * some of its functions have names of C++. tests/attach/forms.py finds lines by their marks. */
#include <stdio.h>

int of_int(int a) __asm__("_ZN2ns1fEi");
int of_text(const char *s) __asm__("_ZN2ns1fEPKc");
int of_template(int a) __asm__("_ZN2ns1tIiEET_S1_");
int of_object(const void *self, int x) __asm__("_ZNK2ns1C1mEi");

__attribute__((noinline)) int of_int(int a)
{
	__asm__ volatile("");
	return a + 1;
}

__attribute__((noinline)) int of_text(const char *s)
{
	__asm__ volatile("");
	return s[0];
}

__attribute__((noinline)) int of_template(int a)
{
	__asm__ volatile("");
	return a * 2;
}

__attribute__((noinline)) int of_object(const void *self, int x)
{
	__asm__ volatile("");
	return self ? x : 0;
}

static volatile int sum;

static inline __attribute__((always_inline)) void inlined(int a)
{
	sum += a; /* MARK: inlined */
}

__attribute__((noinline)) void first(int a)
{
	inlined(a);
	inlined(a + 1);
}

__attribute__((noinline)) void second(int a)
{
	__asm__ volatile(""); /* MARK: no code */
	inlined(a);
	for (int i = 0; i < 3; i++) { sum += i; sum *= 2; } /* MARK: loop */
}

/* Two instructions, of known sizes. */
#ifdef __x86_64__
#define WIDE "movabsq $1, %rax\n ret\n"
#else
#define WIDE "mov x0, #1\n ret\n"
#endif
__asm__(".text\n.globl wide\n.type wide, %function\n.p2align 2\nwide:\n" WIDE ".size wide, . - wide\n");
long wide(void);

/* An IFUNC: the program calls one of two, which the resolver chooses when the program starts. */
static int one(int a)
{
	__asm__ volatile("");
	return a + 1;
}

static int other(int a)
{
	__asm__ volatile("");
	return a + 2;
}

static volatile int which = 1;

static int (*choose(void))(int)
{
	return which ? other : one;
}

int chosen(int a) __attribute__((ifunc("choose")));

int main(void)
{
	for (int i = 7; i < 10; i++)
		sum += chosen(i);
	wide();
	first(1);
	second(2);
	sum += of_int(1) + of_text("a") + of_template(2) + of_object(&sum, 3);
	return 0;
}
