// SPDX-License-Identifier: Apache-2.0
/* leaky.c - a library that keeps what it should free. */
#include <stdlib.h>

void remember(int size);
void forget(int size);

static void *volatile kept[1000]; /* or nothing would be allocated */
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
