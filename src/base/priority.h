// SPDX-License-Identifier: Apache-2.0
/* priority.h - when strata gets the CPU. It needs little time, but soon: it must publish a new process
 * before that has run far, and read the ring buffer before it is full, also on a busy machine. */
#pragma once

/* From here on nice -10, if the system permits; a nice value other than 0 is kept. */
void priority_raise(void);
/* From here on before all that is not realtime: the kernel groups processes by session (autogroup) or cgroup, and
 * a nice value counts within its group alone. Only while little is used: see priority_spend(). Threads begun later
 * are as this one. */
void priority_urgent(void);
/* To be called often: who has used more than 2 s and a 20th of the CPUs' time is not urgent, until that is less. */
void priority_spend(void);
/* The usual priority, for work that takes long (printing), and for what is run. */
void priority_normal(void);
