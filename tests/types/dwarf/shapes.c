// SPDX-License-Identifier: Apache-2.0
/* shapes.c - C: functions that the compiler has changed, unions, bit-fields, enums.
 * golden.py compares the output of args with golden/. */
#include <stddef.h>
#define USE(x) __asm__ volatile("" :: "r"(x) : "memory")
struct flags { unsigned a : 3; int b : 5; unsigned long c : 33; _Bool d : 1; unsigned short e; };
struct __attribute__((packed)) tight { char c; unsigned a : 12; unsigned b : 20; };
struct node {
	struct node *next;
	union { int i; struct { short lo, hi; }; char text[8]; };
	int grid[2][3];
	char names[2][16];
	void (*call)(struct node *);
};
enum sign { MINUS = -2, ZERO, PLUS };
enum big { LARGE = 0x100000000 };
struct hidden;
typedef struct { int x; } unnamed_t;
typedef int vec __attribute__((vector_size(8)));
struct flex { int n; char data[]; };
struct late;
struct late *keep;

__attribute__((noinline)) int walk(struct node *n, enum sign s, enum big b, struct flags f, struct tight t,
	const volatile int *v)
{
	USE(n); USE(s); USE(b); USE(v);
	return f.a + t.a;
}

__attribute__((noinline)) void others(struct hidden *h, unnamed_t u, struct flex *x,
	long double _Complex z, struct late *l, char c[4])
{
	USE(h); USE(x); USE(l); USE(c); USE(u.x);
}

struct late { long when; };
struct late *last(void) { return keep; }
static __attribute__((noinline)) int second(int unused, int used, int five) { USE(used); return used * five; }
static inline int small(int k) { USE(k); return k + 1; }
int (*address)(int) = small;
int main(int argc, char **argv) {
	struct node n = {}; struct flags f = {}; struct tight t = {};
	others(NULL, (unnamed_t){1}, NULL, 0, keep, argv[0]);
	return walk(&n, PLUS, LARGE, f, t, &argc) + second(argc, 7, 5) + second(2, argc, 5) + small(argc) +
		small(argc + 1);
}
