// SPDX-License-Identifier: Apache-2.0
/* server.c - the server of docs/scripts.md: threads serve requests of three tenants until the standard input ends. Each
 * request parses, queries (a file and a short wait), and renders; one of ten is slow. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/requests/publish.h"
#include "tests/requests/record.h"

static volatile int ended;
static volatile unsigned sink;
static const uint8_t known[16] = { 0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80,
	0x31, 0x9c };

static void spin(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}

__attribute__((noinline)) static void parse(void)
{
	spin(100000);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void query(int is_slow)
{
	int fd = open("/etc/hostname", O_RDONLY);

	if (fd >= 0)
		close(fd);
	nanosleep(&(struct timespec){ .tv_nsec = is_slow ? 20000000 : 1000000 }, NULL);
	spin(is_slow ? 3000000 : 30000);
}

__attribute__((noinline)) static void render(void)
{
	char *page = malloc(300000), *fresh;

	fresh = mmap(NULL, 300000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		exit(1);
	memset(fresh, 1, 300000);
	memcpy(page, fresh, 300000);
	__asm__ volatile("" : : "r"(page) : "memory");
	spin(100000);
	munmap(fresh, 300000);
	free(page);
}

__attribute__((noinline)) void handle_end(int is_slow)
{
	__asm__ volatile("" : : "r"(is_slow) : "memory");
}

static void *serve(void *arg)
{
	struct record *r = aligned_alloc(16, sizeof(*r));
	unsigned n = (unsigned)(uintptr_t)arg;

	memset(r, 0, sizeof(*r));
	for (; !ended; n += 4) {
		r->valid = 0;
		memcpy(r->trace, known, sizeof(known));
		if (n % 4)
			memcpy(r->trace, &n, sizeof(n));
		r->size = (uint16_t)(2 + sprintf((char *)r->attributes + 2, "t%u", n % 3));
		r->attributes[0] = 1;
		r->attributes[1] = (uint8_t)(r->size - 2);
		r->valid = 1;
		set_record(r);
		parse();
		query(n % 10 == 7);
		render();
		handle_end(n % 10 == 7);
		set_record(NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	publish();
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, serve, (void *)(uintptr_t)i);
	while (getchar() != EOF)
		;
	ended = 1;
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
