// SPDX-License-Identifier: Apache-2.0
/* unwind.h - --unwind PID or CORE: the stacks of a process or a core, without BPF or root. */
#pragma once
#include <stdio.h>

struct target;

/* Stops the process, walks all its threads with the kernel halves built for the host, lets it continue, and
 * prints the stacks. Returns 0, or 1 after an error. */
int unwind_process(struct target *t, int pid, FILE *out);
/* Prints the stacks of a core of either machine. exe is the program's file; NULL to find it by the paths in
 * the core, under sysroot (NULL for /). Returns 0, or 1 after an error. */
int unwind_core(const char *path, const char *exe, const char *sysroot, FILE *out);
