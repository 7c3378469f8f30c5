// SPDX-License-Identifier: Apache-2.0
/* slow.c - threads that serve requests; one of a hundred is slow. slow.py has the script that looks for the slow ones.
 * Each request makes getpriority(5, NUMBER) in one of three functions, five times, then getpriority(7, IS_SLOW).
 *
 *     slow THREADS REQUESTS     waits for a line of input before the threads begin */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

static unsigned requests;

__attribute__((noinline)) static void parse(unsigned number)
{
	syscall(SYS_getpriority, 5, number);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void query(unsigned number)
{
	syscall(SYS_getpriority, 5, number);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void render(unsigned number)
{
	syscall(SYS_getpriority, 5, number);
	__asm__ volatile("" ::: "memory");
}

static void *thread(void *arg)
{
	struct record *r = aligned_alloc(16, sizeof(*r));
	unsigned first = (unsigned)(uintptr_t)arg * 100000;

	memset(r, 0, sizeof(*r));
	for (unsigned number = first; number < first + requests; number++) {
		r->valid = 0;
		memcpy(r->trace, &(uint32_t){ number + 1 }, 4);
		r->valid = 1;
		set_record(r);
		parse(number);
		query(number);
		query(number);
		query(number);
		render(number);
		syscall(SYS_getpriority, 7, number % 100 == 42);
		set_record(NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argv[1]);
	pthread_t threads[64];

	(void)argc;
	requests = (unsigned)atoi(argv[2]);
	getchar();
	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
