// SPDX-License-Identifier: Apache-2.0
/* hostile.c - records and contexts that lie. A line of input names a case (hostile.py says what must be seen); the
 * program makes it, calls getpriority(5, CASE), and answers with a line. Its first line says that its context is there:
 * strata looks again only after 0.1 s. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

static uint8_t payload[65536];
static size_t payload_size;
static struct record good;
static uint8_t *pages; /* two pages, of which the second cannot be read */

static void write_context(uint8_t *at, uint32_t version, uint32_t size, uint64_t where, uint64_t published)
{
	memcpy(at + 8, &version, 4);
	memcpy(at + 12, &size, 4);
	memcpy(at + 24, &where, 8);
	memcpy(at, "OTEL_CTX", 8);
	memcpy(at + 16, &published, 8);
}

/* {2: {key, {5: {1: {1: "tenant"}}}}} */
static void make_payload(void)
{
	static const char bytes[] = "\x12\x2d\x0a\x1dthreadlocal.attribute_key_map\x12\x0c\x2a\x0a\x0a\x08\x0a\x06"
				    "tenant";

	memcpy(payload, bytes, sizeof(bytes) - 1);
	payload_size = sizeof(bytes) - 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void make_good(const char *tenant)
{
	memset(&good, 0, sizeof(good));
	memset(good.trace, 0xab, sizeof(good.trace));
	memset(good.attributes, 7, sizeof(good.attributes));
	good.attributes[0] = 0;
	good.valid = 1;
	good.attributes[1] = (uint8_t)strlen(tenant);
	memcpy(good.attributes + 2, tenant, strlen(tenant));
	good.size = (uint16_t)(2 + strlen(tenant));
}

static void make_record(int number)
{
	make_good("t1");
	set_record(&good);
	if (number == 1) /* nowhere */
		set_record((void *)0x123456789000);
	else if (number == 2) /* in the kernel */
		set_record((void *)0xffffffff81000000);
	else if (number == 3)
		good.valid = 2;
	else if (number == 4) /* more attributes than a record has */
		good.size = 65535;
	else if (number == 5) /* an attribute that is longer than all */
		good.attributes[1] = 255;
	else if (number == 6) /* the end of the memory: a whole record does not fit */
		set_record(memcpy(pages + 4096 - 32, &good, 32));
	else if (number == 7) /* not even its head */
		set_record(memcpy(pages + 4096 - 20, &good, 20));
	else if (number == 8)
		make_good("a\nb\033[31m");
	else if (number == 9)
		memset(good.trace, 0, sizeof(good.trace));
	else if (number == 10) /* 306 attributes of no bytes, then one byte too many */
		memset(good.attributes, 7, sizeof(good.attributes)), good.size = 612;
	else if (number == 11) /* its value is longer than strata keeps */
		make_good("0123456789012345678901234567890123456789012345678901234567890123456789"
			  "01234567890123456789012345678901234567890123456789012345678901234567890123456789");
}

int main(void)
{
	uint8_t *bad = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, memfd_create("OTEL_CTX", 0), 0), *at;
	int fd = memfd_create("OTEL_CTX", 0);
	char line[64];

	(void)bad; /* a file without bytes: it cannot be read */
	if (ftruncate(fd, 4096))
		return 1;
	make_payload();
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	write_context(at, 2, (uint32_t)payload_size, (uintptr_t)payload, now());
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + 4096, 4096, PROT_NONE);
	puts("published");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int number = atoi(line);

		if (number == 20) /* the context's payload is nowhere, and it changes */
			write_context(at, 2, 65536, 0x123456789000, now());
		else if (number == 21)
			write_context(at, 9, (uint32_t)payload_size, (uintptr_t)payload, now());
		else if (number == 22) /* it nests without end, and it is being written */
			memset(payload, 0x0a, sizeof(payload)), write_context(at, 2, 65536, (uintptr_t)payload, 0);
		make_record(number);
		syscall(SYS_getpriority, 5, number);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
