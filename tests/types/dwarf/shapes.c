// SPDX-License-Identifier: Apache-2.0
/* shapes.c - C: what the compiler changed in functions of its own, unions, bit-fields, enums.
 * golden.py compares what follows the marks with what args prints, of this program compiled so. */
#include <stddef.h>
#define USE(x) __asm__ volatile("" :: "r"(x) : "memory")
struct flags { unsigned a : 3; int b : 5; unsigned long c : 33; _Bool d : 1; unsigned short e; };
struct __attribute__((packed)) tight { char c; unsigned a : 12; unsigned b : 20; };
struct node { struct node *next; union { int i; struct { short lo, hi; }; char text[8]; }; int grid[2][3]; char names[2][16]; void (*call)(struct node *); };
enum sign { MINUS = -2, ZERO, PLUS };
enum big { LARGE = 0x100000000 };
struct hidden;
typedef struct { int x; } unnamed_t;
typedef int vec __attribute__((vector_size(8)));
struct flex { int n; char data[]; };
struct late;
struct late *keep;

__attribute__((noinline)) int walk(struct node *n, enum sign s, enum big b, struct flags f, struct tight t) { USE(n); USE(s); USE(b); return f.a + t.a; }
__attribute__((noinline)) void others(struct hidden *h, unnamed_t u, struct flex *x, const volatile int *v, long double _Complex z, struct late *l, char c[4]) { USE(h); USE(x); USE(v); USE(l); USE(c); USE(u.x);}
struct late { long when; };
struct late *last(void) { return keep; }
static __attribute__((noinline)) int second(int unused, int used, int five) { USE(used); return used * five; }
static inline int small(int k) { USE(k); return k + 1; }
int (*address)(int) = small;
int main(int argc, char **argv) {
	struct node n = {}; struct flags f = {}; struct tight t = {};
	others(NULL, (unnamed_t){1}, NULL, &argc, 0, keep, argv[0]);
	return walk(&n, PLUS, LARGE, f, t) + second(argc, 7, 5) + second(2, argc, 5) + small(argc) + small(argc + 1);
}

//x86_64 walk(struct node* n at r0, enum sign s at r1, enum big b at r2, struct flags f at r3, struct tight t at r4) -> int32
//x86_64 others(struct hidden* h at r0, unnamed_t u at r1, struct flex* x at r2, volatile const int* v at r3, complex long double z at sp+8, struct late* l at r4, char* c at r5) -> -
//x86_64 last() -> struct late *
//x86_64 small(int k at r0) -> int32, inlined at 2 places
//x86_64 second.constprop.0(int used at r0, int unused at none: it is optimised out, int five at none: it is always 5 here) -> int32

//aarch64 walk(struct node* n at r0, enum sign s at r1, enum big b at r2, struct flags f at r3, struct tight t at r4) -> int32
//aarch64 others(struct hidden* h at r0, unnamed_t u at r1, struct flex* x at r2, volatile const int* v at r3, complex long double z at none: it is in a floating-point register, struct late* l at r4, char* c at r5) -> -
//aarch64 last() -> struct late *
//aarch64 small(int k at r0) -> int32, inlined at 2 places
//aarch64 second.constprop.0(int used at r0, int unused at none: it is optimised out, int five at none: it is always 5 here) -> int32

//members walk(struct node* n at r0, enum sign s at r1, enum big b at r2, struct flags f at r3, struct tight t at r4) -> int32
//members     struct node: 80 bytes
//members       0 struct node * next
//members         struct node: 80 bytes
//members           0 struct node * next
//members             struct node: 80 bytes
//members               0 struct node * next
//members               8 union 
//members               16 int32[2][3] grid
//members               40 string[16][2] names
//members               72 void * call
//members           8 union 
//members             union: 8 bytes
//members               0 int32 i
//members               0 struct 
//members               0 string[8] text
//members           16 int32[2][3] grid
//members           40 string[16][2] names
//members           72 void * call
//members       8 union 
//members         union: 8 bytes
//members           0 int32 i
//members           0 struct 
//members             struct: 4 bytes
//members               0 int16 lo
//members               2 int16 hi
//members           0 string[8] text
//members       16 int32[2][3] grid
//members       40 string[16][2] names
//members       72 void * call
//members     MINUS = -2
//members     ZERO = -1
//members     PLUS = 0
//members     LARGE = 4294967296
//members     struct flags: 8 bytes
//members       0 bits 0+3 uint32 a
//members       0 bits 3+5 int32 b
//members       0 bits 8+33 uint64 c
//members       5 bits 1+1 bool d
//members       6 uint16 e
//members     struct tight: 5 bytes
//members       0 int8 c
//members       0 bits 8+12 uint32 a
//members       1 bits 12+20 uint32 b
//members others(struct hidden* h at r0, unnamed_t u at r1, struct flex* x at r2, volatile const int* v at r3, complex long double z at sp+8, struct late* l at r4, char* c at r5) -> -
//members     struct hidden: 0 bytes, declared
//members     struct: 4 bytes
//members       0 int32 x
//members     struct flex: 4 bytes
//members       0 int32 n
//members       4 int8[0] data
//members     struct late: 8 bytes
//members       0 int64 when
