// SPDX-License-Identifier: Apache-2.0
#include "base/priority.h"

#include <stdbool.h>
#include <sys/resource.h>

#define NICE (-10)

static bool raised;

void priority_raise(void)
{
	raised = !getpriority(PRIO_PROCESS, 0) && !setpriority(PRIO_PROCESS, 0, NICE);
}

void priority_normal(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, 0);
}

void priority_high(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, NICE);
}
