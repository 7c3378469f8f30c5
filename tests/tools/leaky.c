// SPDX-License-Identifier: Apache-2.0
/* leaky.c - a library that does not free its memory. */
#include <stdlib.h>

void remember(int size);
void forget(int size);

static void *volatile kept[1000]; /* otherwise the compiler would omit the allocation */
static int nkept;

void remember(int size)
{
	kept[nkept++ % 1000] = malloc((size_t)size);
}

void forget(int size)
{
	void *volatile p = malloc((size_t)size);

	free(p);
}
