// SPDX-License-Identifier: Apache-2.0
#include "base/priority.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#define NICE (-10)
#define SAVED_MAX   2000000000ll /* ns of CPU time */
#define SAVED_LEAST 500000000ll  /* strata becomes urgent again at this value */
#define SHARE       20           /* strata may use a 20th of the time of the CPUs.. */
#define CPUS_MAX    10           /* ..of which at most 10 count */

static int64_t cpus;
static bool raised, wants_urgent, is_urgent;
static int64_t saved = SAVED_MAX;
static uint64_t passed, used; /* values at the last priority_spend() */

static void schedule(int policy, int priority)
{
	is_urgent = !sched_setscheduler(0, policy, &(struct sched_param){ .sched_priority = priority }) &&
		policy == SCHED_RR;
}

void priority_raise(void)
{
	raised = !getpriority(PRIO_PROCESS, 0) && !setpriority(PRIO_PROCESS, 0, NICE);
}

void priority_urgent(void)
{
	if (!raised || wants_urgent || sched_getscheduler(0) != SCHED_OTHER)
		return;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpus = cpus < 1 ? 1 : cpus > CPUS_MAX ? CPUS_MAX : cpus;
	passed = clock_ns(CLOCK_MONOTONIC);
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	schedule(SCHED_RR, 1);
	wants_urgent = is_urgent;
}

void priority_spend(void)
{
	uint64_t now, cpu;

	if (!wants_urgent)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	saved += (int64_t)(now - passed) * cpus / SHARE - (int64_t)(cpu - used);
	if (saved > SAVED_MAX)
		saved = SAVED_MAX;
	passed = now;
	used = cpu;
	if (is_urgent && saved < 0)
		schedule(SCHED_OTHER, 0);
	else if (!is_urgent && saved > SAVED_LEAST)
		schedule(SCHED_RR, 1);
}

void priority_normal(void)
{
	wants_urgent = false;
	if (is_urgent)
		schedule(SCHED_OTHER, 0);
	if (raised)
		setpriority(PRIO_PROCESS, 0, 0);
}
