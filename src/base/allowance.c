// SPDX-License-Identifier: Apache-2.0
/* allowance.c - see allowance.h. */
#include "allowance.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t *numbers; /* NULL: there is no agent */
static unsigned long place;

/* By default the C library keeps twice as many free bytes as the largest block that was ever freed. */
enum { KEPT_BYTES = 1 << 20 };

void allowance_open(void)
{
	const char *fd = getenv(ALLOWANCE_FD), *at = getenv(ALLOWANCE_AT);
	size_t size = ALLOWANCES * sizeof(*numbers);
	struct stat st;
	void *map;

	place = at ? strtoul(at, NULL, 10) : ALLOWANCES;
	if (fd && atoi(fd) == ALLOWANCE_NUMBER && place < ALLOWANCES && !fstat(ALLOWANCE_NUMBER, &st) &&
		S_ISREG(st.st_mode) && st.st_size == (off_t)size) {
		map = mmap(NULL, size, PROT_READ, MAP_SHARED, ALLOWANCE_NUMBER, 0);
		numbers = map == MAP_FAILED ? NULL : map;
		close(ALLOWANCE_NUMBER);
		mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
		mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	}
	unsetenv(ALLOWANCE_FD);
	unsetenv(ALLOWANCE_AT);
}

uint64_t allowance(void)
{
	return numbers ? __atomic_load_n(&numbers[place], __ATOMIC_RELAXED) : 0;
}
