// SPDX-License-Identifier: Apache-2.0
/* unwind.h - --unwind PID: the stacks of a process as it stands, without BPF or root. */
#pragma once
#include <stdio.h>

struct target;

/* Stops the process, walks all its threads with the kernel halves built for the host,
 * lets it go on, prints. 0, or 1 after a complaint. */
int unwind_process(struct target *t, int pid, FILE *out);
