// SPDX-License-Identifier: Apache-2.0
/* unwind.h - --unwind PID or CORE: the stacks of a process as it stands or stood, without
 * BPF or root. */
#pragma once
#include <stdio.h>

struct target;

/* Stops the process, walks all its threads with the kernel halves built for the host,
 * lets it go on, prints. 0, or 1 after a complaint. */
int unwind_process(struct target *t, int pid, FILE *out);
/* A core of either machine. exe: the program's file, or NULL: by the paths in the core,
 * under sysroot (NULL: /). */
int unwind_core(const char *path, const char *exe, const char *sysroot, FILE *out);
