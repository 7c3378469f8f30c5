// SPDX-License-Identifier: Apache-2.0
/* paths.c - calls bottom() RATE times a second (0: as often as possible), 24 calls deep, on another path each time:
 * each bit of a counter chooses one of two functions. With a further argument, it uses only one path. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define CALL static __attribute__((noinline)) void

CALL bottom(void) { __asm__ volatile(""); }

#define DEPTH 24
static void (*const even[DEPTH + 1])(uint32_t), (*const odd[DEPTH + 1])(uint32_t);

static inline void next(uint32_t n, unsigned depth)
{
	if (depth == DEPTH)
		bottom();
	else
		(n >> depth & 1 ? odd : even)[depth](n);
	__asm__ volatile("");
}

#define LEVEL(d)                                                                         \
	CALL even_##d(uint32_t n) { next(n, d + 1); }                             \
	CALL odd_##d(uint32_t n) { next(n, d + 1); }
#define LEVELS(L)                                                                        \
	L(0) L(1) L(2) L(3) L(4) L(5) L(6) L(7) L(8) L(9) L(10) L(11) L(12) L(13) L(14)  \
	L(15) L(16) L(17) L(18) L(19) L(20) L(21) L(22) L(23)
LEVELS(LEVEL)
#define EVEN(d) even_##d,
#define ODD(d)  odd_##d,
static void (*const even[DEPTH + 1])(uint32_t) = {LEVELS(EVEN)};
static void (*const odd[DEPTH + 1])(uint32_t) = {LEVELS(ODD)};

int main(int argc, char **argv)
{
	unsigned rate = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	struct timespec pause = {.tv_nsec = rate ? 1000000000 / rate : 0};

	for (uint32_t n = 0;; n++) {
		next(argc > 2 ? 0 : n * 2654435761u >> 8, 0);
		if (rate)
			nanosleep(&pause, NULL);
	}
}
