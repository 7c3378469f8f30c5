// SPDX-License-Identifier: Apache-2.0
/* priority.h - the scheduling priority of strata. It needs little CPU time, but needs it soon, even on a
 * busy machine: it must publish a new process before that process has run far, and read the ring buffer
 * before it is full. */
#pragma once

/* Sets nice to -10, if the system permits it. A nice value other than 0 is kept. */
void priority_raise(void);
/* Makes this thread, and threads that it starts later, run before all others that are not realtime. A nice
 * value is not enough: the kernel groups processes by session (autogroup) or cgroup, and nice only counts
 * within a group. priority_spend() ends the urgency while strata uses much CPU time. */
void priority_urgent(void);
/* Called often: strata is not urgent while it has used more than 2 s and a 20th of the CPUs' time. */
void priority_spend(void);
/* Restores the usual priority, for long work (printing) and for commands. */
void priority_normal(void);
