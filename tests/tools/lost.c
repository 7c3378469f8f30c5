// SPDX-License-Identifier: Apache-2.0
/* lost.c - keeps blocks of memory in several ways, and loses others, after a line on standard input. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 100 };

struct node {
	struct node *next;
	char text[200];
};

static void *volatile table[BLOCKS];
static char *volatile inside[BLOCKS];
static struct node *volatile list;
static int is_held;

void keep_in_table(int i);
void keep_in_list(void);
void keep_inside(int i);
void lose(void);
void lose_ring(void);
void *hold(void *arg);
void overwrite(int depth);

__attribute__((noinline)) void keep_in_table(int i)
{
	table[i] = malloc(1000);
}

__attribute__((noinline)) void keep_in_list(void)
{
	struct node *n = malloc(sizeof(*n));

	n->next = list;
	list = n;
}

__attribute__((noinline)) void keep_inside(int i)
{
	inside[i] = (char *)malloc(500) + 100;
}

__attribute__((noinline)) void lose(void)
{
	void *volatile p = malloc(300);

	p = NULL;
	(void)p;
}

/* Only the block itself has its address. */
__attribute__((noinline)) void lose_ring(void)
{
	struct node *volatile n = malloc(sizeof(*n));

	n->next = n;
	n = NULL;
}

/* Only a register has the address. */
__attribute__((noinline)) void *hold(void *arg)
{
#ifdef __x86_64__
	register void *p __asm__("r12") = malloc(700);
#else
	register void *p __asm__("x28") = malloc(700);
#endif

	__asm__ volatile("" : "+r"(p));
	is_held = 1;
	for (;;)
		__asm__ volatile("" : "+r"(p));
	return arg;
}

/* Overwrites the stack, in which addresses of lost blocks may be left. */
__attribute__((noinline)) void overwrite(int depth)
{
	volatile char junk[4096];

	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = 1;
	if (depth)
		overwrite(depth - 1);
	__asm__ volatile("");
}

int main(void)
{
	pthread_t t;

	if (getchar() == EOF)
		return 1;
	for (int i = 0; i < BLOCKS; i++) {
		keep_in_table(i);
		keep_in_list();
		keep_inside(i);
		lose();
		lose_ring();
	}
	overwrite(4);
	pthread_create(&t, NULL, hold, NULL);
	while (!*(volatile int *)&is_held)
		usleep(1000);
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
