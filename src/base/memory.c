// SPDX-License-Identifier: Apache-2.0
/* memory.c - messages about memory are made without the heap, see memory.h. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/owner.h"

bool memory_limit(char *ret, size_t size)
{
	static const struct {
		__rlimit_resource_t resource;
		char letter;
	} rows[] = {{RLIMIT_AS, 'v'}, {RLIMIT_DATA, 'd'}};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!getrlimit(rows[i].resource, &limit) && limit.rlim_cur != RLIM_INFINITY) {
			snprintf(ret, size, "ulimit -%c is %lu KiB", rows[i].letter,
				(unsigned long)limit.rlim_cur / 1024);
			return true;
		}
	snprintf(ret, size, "the machine or its control group has no more");
	return false;
}

uint64_t memory_resident(void)
{
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, pages;

	return f && fscanf(f, "%llu %llu", &size, &pages) == 2 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void memory_use_huge_pages(void *p, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)p + size) & ~(page - 1);

	if (size >= 4 << 20)
		madvise((void *)from, to - from, MADV_HUGEPAGE); /* an older kernel without them is only slower */
}

void out_of_memory(void)
{
	static int ending;
	char why[128], line[256];
	int n;

	if (ending++) /* exit() needs memory, too */
		_exit(1);
	memory_limit(why, sizeof(why));
	n = snprintf(line, sizeof(line), "error: out of memory: %s\n", why);
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		_exit(1);
	exit(1);
}
