// SPDX-License-Identifier: Apache-2.0
/* context.c - publish.h for a library. */
#define _GNU_SOURCE
#include "publish.h"

void publish_context(void)
{
	publish();
}
