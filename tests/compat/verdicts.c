// SPDX-License-Identifier: Apache-2.0
/* verdicts.c - the program that scripts of verdicts.txt probe. */
#include <stdbool.h>
#include <stdint.h>

enum colour { RED, GREEN = 5, BLUE };
struct point { int x, y; };
struct wide { long a, b, c; };
union word { long whole; unsigned char parts[8]; };
struct shape {
	short id;
	struct shape *next;
	struct point at, corners[4];
	char name[8];
	enum colour colour;
	int grid[2][3];
	unsigned low : 3, high : 5;
	union { long whole; char parts[8]; struct { int lo, hi; }; };
	union word word;
	int (*call)(int);
	void *data;
	const char *text;
	struct point **table;
	uint8_t bytes[];
};

#define APART __attribute__((noinline, noclone))
APART int area(struct shape *s, int scale, enum colour how, const char *text, bool flag)
{ __asm__ volatile("" :: "r"(s), "r"(scale), "r"(how), "r"(text), "r"((int)flag)); return s->id; }
APART long by_value(struct point p, struct wide w, double d, union word u)
{ __asm__ volatile("" :: "r"(p.x), "r"(w.c), "x"(d), "r"(u.whole)); return w.a; }
APART struct shape *link_to(struct shape *s) { __asm__ volatile("" :: "r"(s)); return s->next; }
APART void nothing(void) { __asm__ volatile(""); }
APART unsigned char narrow(signed char c, uint16_t h, int64_t l)
{ __asm__ volatile("" :: "r"((int)c), "r"((int)h), "r"(l)); return c; }

int main(void)
{
	static struct shape last = { 2 }, first = { 1, &last };

	nothing();
	return area(&first, 2, GREEN, "text", true) + by_value((struct point){ 1, 2 }, (struct wide){ 3, 4, 5 }, 1.5,
		(union word){ 7 }) + (link_to(&first) != &last) + narrow(-1, 2, 3) == 0;
}
