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
/* START_MIB: of a process that is ready. BUSY_MAX: seconds in which a unit may have memory for a short time. Of
 * ASK_EACH seconds in which a unit wants room, the others are asked in ASK_MAX. */
enum { START_MIB = 20, BUSY_MAX = 5, ASK_MAX = 3, ASK_EACH = 60 };

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
	size_t size = sizeof(*m->shared);

	*m = (struct memory){.fd = -1};
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return -errno;
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (m->fd < 0)
		return -errno;
	m->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->shared == MAP_FAILED) {
		m->shared = NULL;
		return -errno;
	}
	return 0;
}

void memory_close(struct memory *m)
{
	if (m->shared)
		munmap(m->shared, sizeof(*m->shared));
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
static void allow(struct memory *m, const struct part *parts, size_t n, bool limited)
{
	uint64_t numbers[ALLOWANCES] = {}, shared[ALLOWANCES] = {};

	for (size_t i = 0; i < n; i++) {
		unsigned at = parts[i].process->number % ALLOWANCES;

		shared[at] = parts[i].process->memory.shared;
		numbers[at] = limited ? parts[i].gets + shared[at] : 0;
	}
	for (size_t i = 0; i < ALLOWANCES; i++) {
		__atomic_store_n(&m->shared->allowed[i], numbers[i], __ATOMIC_RELAXED);
		__atomic_store_n(&m->shared->shared[i], shared[i], __ATOMIC_RELAXED);
	}
}

/* Sets the room that is left of the limit. While a unit makes a table, the measured memory includes memory that it soon
 * frees. The room then stays the one before, from which units have subtracted the memory that they keep. starting is
 * the number of bytes that units will need until they are ready. */
static void set_room(struct memory *m, uint64_t limit, uint64_t starting)
{
	uint64_t all = m->all + starting;
	bool is_busy = __atomic_load_n(&m->shared->busy, __ATOMIC_RELAXED);

	m->busy = is_busy ? m->busy + 1 : 0;
	if (m->shared->limit != limit || !m->busy || m->busy > BUSY_MAX)
		__atomic_store_n(&m->shared->room, limit > all ? limit - all : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&m->shared->limit, limit, __ATOMIC_RELAXED);
}

/* Returns the bytes that the units shall give back, because one of them wants them. If this does not help for some
 * seconds, the units have no more to give. */
static uint64_t asked_for(struct memory *m)
{
	uint64_t wanted = __atomic_exchange_n(&m->shared->wanted, 0, __ATOMIC_RELAXED);

	m->asked = wanted ? m->asked + 1 : 0;
	return m->asked % ASK_EACH <= ASK_MAX ? wanted : 0;
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
	uint64_t rest, wanted = asked_for(m), starting = 0;

	measure(&m->own, getpid(), now);
	m->all = m->own.bytes;
	for (const struct unit *u = units; u; u = u->next_unit) {
		const struct process *list[UNIT_PROCESSES];

		for (size_t i = 0, n = unit_processes(u, list); i < n; i++) {
			uint64_t bytes = process_memory(list[i]);

			m->all += bytes;
			starting += !list[i]->ready && bytes < START_MIB * MIB ? START_MIB * MIB - bytes : 0;
			vec_push(&parts, (struct part){list[i], bytes + ROOM_MIB * MIB});
		}
	}
	m->limit = limit;
	rest = limit > m->own.bytes ? limit - m->own.bytes : 0;
	set_room(m, limit, starting);
	divide(parts.data, parts.len, rest > wanted ? rest - wanted : 0);
	allow(m, parts.data, parts.len, limit);
	vec_done(&parts);
	report(m, limit);
}
