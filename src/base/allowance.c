// SPDX-License-Identifier: Apache-2.0
/* allowance.c - see allowance.h. */
#include "allowance.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static struct allowances *numbers; /* NULL: there is no agent */
static unsigned long place;
static unsigned turns;            /* depth of begun turns */
static uint64_t patient_at;       /* CLOCK_MONOTONIC ns: until then this unit does not wait for its turn */

/* By default the C library keeps twice as many free bytes as the largest block that was ever freed. */
enum { KEPT_BYTES = 1 << 20 };
/* MARGIN: what all units may take until the agent's next look. */
enum { MARGIN = 8 << 20, WAIT_MS = 1000, TRY_NS = 2000000 };
#define IMPATIENT_NS 10000000000ull

void allowance_open(void)
{
	const char *fd = getenv(ALLOWANCE_FD), *at = getenv(ALLOWANCE_AT);
	size_t size = sizeof(*numbers);
	struct stat st;
	void *map;

	place = at ? strtoul(at, NULL, 10) : ALLOWANCES;
	if (fd && atoi(fd) == ALLOWANCE_NUMBER && place < ALLOWANCES && !fstat(ALLOWANCE_NUMBER, &st) &&
		S_ISREG(st.st_mode) && st.st_size == (off_t)size) {
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ALLOWANCE_NUMBER, 0);
		numbers = map == MAP_FAILED ? NULL : map;
		fcntl(ALLOWANCE_NUMBER, F_SETFD, FD_CLOEXEC); /* open for the lock */
		mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
		mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	}
	unsetenv(ALLOWANCE_FD);
	unsetenv(ALLOWANCE_AT);
}

bool allowance_is_unit(void)
{
	return numbers;
}

uint64_t allowance(void)
{
	return numbers ? __atomic_load_n(&numbers->allowed[place], __ATOMIC_RELAXED) : 0;
}

uint64_t allowance_shared(void)
{
	return numbers ? __atomic_load_n(&numbers->shared[place], __ATOMIC_RELAXED) : 0;
}

/* ---- turns ---------------------------------------------------------------- */

static bool lock(short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

	return !fcntl(ALLOWANCE_NUMBER, F_SETLK, &whole) || (errno != EAGAIN && errno != EACCES);
}

/* A unit that was stopped keeps its turn: others that have waited once for a second go on without one for a while. */
static bool wait_for_turn(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), end = now < patient_at ? now : now + WAIT_MS * 1000000ull;

	for (; !lock(F_WRLCK); now = clock_ns(CLOCK_MONOTONIC)) {
		if (now >= end) {
			patient_at = now < patient_at ? patient_at : now + IMPATIENT_NS;
			return false;
		}
		nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
	}
	return true;
}

bool allowance_begin(void)
{
	if (numbers && !turns && !wait_for_turn())
		return false;
	turns++;
	return true;
}

void allowance_end(void)
{
	if (--turns || !numbers)
		return;
	__atomic_store_n(&numbers->busy, 0, __ATOMIC_RELAXED);
	lock(F_UNLCK);
}

/* ---- room ----------------------------------------------------------------- */

bool allowance_fits(uint64_t bytes)
{
	uint64_t wanted;

	if (!numbers || !__atomic_load_n(&numbers->limit, __ATOMIC_RELAXED))
		return true;
	bytes += MARGIN;
	if (bytes <= __atomic_load_n(&numbers->room, __ATOMIC_RELAXED)) {
		__atomic_store_n(&numbers->busy, place + 1, __ATOMIC_RELAXED);
		return true;
	}
	wanted = __atomic_load_n(&numbers->wanted, __ATOMIC_RELAXED);
	while (wanted < bytes && !__atomic_compare_exchange_n(&numbers->wanted, &wanted, bytes, true, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED))
		;
	return false;
}

void allowance_take(int64_t bytes)
{
	uint64_t room, left;

	if (!numbers)
		return;
	room = __atomic_load_n(&numbers->room, __ATOMIC_RELAXED);
	do
		left = bytes > 0 && (uint64_t)bytes > room ? 0 : room - (uint64_t)bytes;
	while (!__atomic_compare_exchange_n(&numbers->room, &room, left, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
