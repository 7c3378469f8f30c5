// SPDX-License-Identifier: Apache-2.0
/* filemap.c - files mapped for reading, which another process may truncate meanwhile.
 *
 * Reading a page after the end of a mapped file raises SIGBUS, so the owner of a library that strata reads
 * could end strata by truncating the library. The signal's handler puts a page of zeros there, and the read
 * continues; readers of files check their contents anyway. */
#include "filemap.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct range {
	_Atomic(uintptr_t) start, end; /* start is 0 if the entry is free */
	struct range *next;
};

/* Ranges are never removed from the list, since the signal handler may walk it at any time. */
static _Atomic(struct range *) ranges;
static uintptr_t page_size;

static bool is_ours(uintptr_t at)
{
	for (struct range *r = ranges; r; r = r->next)
		if (at >= r->start && at < r->end)
			return true;
	return false;
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	void *page = (void *)(at & ~(page_size - 1));

	(void)context;
	if (is_ours(at) && mmap(page, page_size, PROT_READ,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
		return;
	signal(sig, SIG_DFL); /* not our address: the signal comes again on return, and ends strata */
}

static void install(void)
{
	struct sigaction sa = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};

	if (page_size)
		return;
	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &sa, NULL);
}

static bool remember(uintptr_t start, uintptr_t end)
{
	struct range *r;

	for (r = ranges; r && r->start; r = r->next)
		;
	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return false;
		r->next = ranges;
		ranges = r;
	}
	r->end = end;
	r->start = start;
	return true;
}

bool filemap_guard(const void *data, size_t size)
{
	install();
	return remember((uintptr_t)data, (uintptr_t)data + size);
}

void filemap_unguard(const void *data)
{
	for (struct range *r = ranges; r; r = r->next)
		if (r->start == (uintptr_t)data)
			r->start = r->end = 0;
}

const uint8_t *filemap(int fd, size_t size)
{
	uint8_t *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return NULL;
	if (filemap_guard(data, size))
		return data;
	munmap(data, size);
	return NULL;
}

void filemap_done(const uint8_t *data, size_t size)
{
	filemap_unguard(data);
	munmap((void *)data, size);
}
