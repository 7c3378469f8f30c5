// SPDX-License-Identifier: Apache-2.0
/* odd.c - layouts that are rare in kernels. It is compiled for BPF, for its BTF. */
typedef unsigned char u8;
typedef int number;
#define __user __attribute__((btf_type_tag("user")))

enum colour { RED, GREEN = 7, BLUE };
enum depth { DEEP = -3, FLAT = 0 };
enum wide { WIDE = 0x1234567890abcdefULL };
enum __attribute__((packed)) small { SMALL = 200 };

struct unknown;
struct holder;

struct bits {
	unsigned a : 3, b : 5, : 4, c : 20;
	int d : 9;
	unsigned long e : 40;
	_Bool f : 1;
	enum colour g : 4;
};

struct __attribute__((packed)) packed {
	u8 a : 7;
	u8 b : 6; /* in two bytes */
	unsigned c : 3;
	unsigned long d : 50;
	int e;
	u8 f;
};

struct __attribute__((packed)) tiny {
	int only : 5; /* the struct is shorter than an int */
};

struct holder {
	struct {
		int x;
		union {
			number y;
			u8 z[4];
		};
	};
	int grid[2][3];
	char name[16];
	char names[2][8];
	const volatile struct holder *next;
	char __user *text;
	int (*call)(struct holder *, int);
	void *any;
	struct unknown *unknown;
	enum depth depth;
	enum wide wide;
	enum small small;
	struct bits bits;
	struct packed packed;
	__int128 big;
	float real;
	struct {
	} nothing;
	int *const *pointers[4];
	int tail[];
};

struct text {
	int n;
	char tail[];
};

union either {
	unsigned n;
	u8 bytes[4];
};

/* Types that the others lack, in arrays, and as a key. */
struct flags {
	_Bool on[2];
	union either either;
	enum colour colours[2];
	struct tiny tiny[2];
};

struct flags flags;
struct holder holder;
struct tiny tiny;
struct text text;
