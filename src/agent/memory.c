// SPDX-License-Identifier: Apache-2.0
/* memory.c - see memory.h. The file that the units share has a number for each process of the agent, by its own
 * number. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/vec.h"
#include "process.h"
#include "unit.h"

#define MIB ((uint64_t)1 << 20)
#define SHARED_NS 10000000000ull
/* A process may grow by ROOM until the next look. FIRST_FD: above the numbers that a unit's process has. */
enum { ROOM_MIB = 8, FIRST_FD = 10 };

/* ---- measuring ------------------------------------------------------------ */

static uint64_t resident_of(pid_t pid)
{
	_cleanup_(fclosep) FILE *f = NULL;
	unsigned long long size, pages;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	return f && fscanf(f, "%llu %llu", &size, &pages) == 2 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Returns false if the kernel does not show it. */
static bool read_shared(pid_t pid, uint64_t *ret)
{
	_cleanup_(fclosep) FILE *f = NULL;
	unsigned long long rss = 0, pss = 0;
	char line[256];

	snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %llu", &rss) != 1 && sscanf(line, "Pss: %llu", &pss) == 1)
			break;
	*ret = rss > pss ? (rss - pss) << 10 : 0;
	return rss;
}

/* A process that has just been started has the pages of the agent. */
static bool is_due(const struct measure *m, uint64_t now)
{
	return !m->shared_at || now - m->shared_at >= SHARED_NS || m->resident > m->resident_then / 4 * 5 ||
		m->resident < m->resident_then / 4 * 3;
}

void measure(struct measure *m, pid_t pid, uint64_t now)
{
	m->resident = resident_of(pid);
	if (is_due(m, now) && read_shared(pid, &m->shared)) {
		m->shared_at = now;
		m->resident_then = m->resident;
	}
	m->bytes = m->resident > m->shared ? m->resident - m->shared : 0;
}

/* ---- sharing -------------------------------------------------------------- */

int memory_open(struct memory *m)
{
	_cleanup_(closep) int fd = memfd_create("strata-memory", MFD_CLOEXEC);
	size_t size = ALLOWANCES * sizeof(*m->allowed);

	*m = (struct memory){.fd = -1};
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return -errno;
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (m->fd < 0)
		return -errno;
	m->allowed = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->allowed == MAP_FAILED) {
		m->allowed = NULL;
		return -errno;
	}
	return 0;
}

void memory_close(struct memory *m)
{
	if (m->allowed)
		munmap(m->allowed, ALLOWANCES * sizeof(*m->allowed));
	closep(&m->fd);
	*m = (struct memory){.fd = -1};
}

struct part {
	const struct process *process;
	uint64_t wants, gets;
};

static int least_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->wants > y->wants) - (x->wants < y->wants);
}

/* Small processes get the memory that they want, and large ones equal parts of the rest. Memory that nobody wants is
 * divided equally. */
static void divide(struct part *parts, size_t n, uint64_t bytes)
{
	if (n)
		qsort(parts, n, sizeof(*parts), least_first);
	for (size_t i = 0; i < n; i++) {
		uint64_t fair = bytes / (n - i);

		parts[i].gets = parts[i].wants < fair ? parts[i].wants : fair;
		bytes -= parts[i].gets;
	}
	for (size_t i = 0; i < n; i++)
		parts[i].gets += bytes / n;
}

/* A process compares its number with all its pages. Those of processes that have ended are 0 again. */
static void allow(struct memory *m, const struct part *parts, size_t n)
{
	uint64_t numbers[ALLOWANCES] = {};

	for (size_t i = 0; i < n; i++)
		numbers[parts[i].process->number % ALLOWANCES] = parts[i].gets + parts[i].process->memory.shared;
	for (size_t i = 0; i < ALLOWANCES; i++)
		__atomic_store_n(&m->allowed[i], numbers[i], __ATOMIC_RELAXED);
}

static void report(struct memory *m, uint64_t limit)
{
	bool over = limit && m->all > limit;

	m->over += over;
	if (over && !m->reported)
		log_info("memory: the agent and its units have %" PRIu64 " MiB, and may have %" PRIu64, m->all / MIB,
			limit / MIB);
	m->reported = over;
}

void memory_share(struct memory *m, const struct unit *units, uint64_t limit, uint64_t now)
{
	VEC(struct part) parts = {};
	uint64_t rest;

	measure(&m->own, getpid(), now);
	m->all = m->own.bytes;
	for (const struct unit *u = units; u; u = u->next_unit) {
		const struct process *list[UNIT_PROCESSES];

		for (size_t i = 0, n = unit_processes(u, list); i < n; i++) {
			uint64_t bytes = process_memory(list[i]);

			m->all += bytes;
			vec_push(&parts, (struct part){list[i], bytes + ROOM_MIB * MIB});
		}
	}
	m->limit = limit;
	rest = limit > m->own.bytes ? limit - m->own.bytes : 0;
	divide(parts.data, parts.len, rest);
	allow(m, parts.data, limit ? parts.len : 0);
	vec_done(&parts);
	report(m, limit);
}
