// SPDX-License-Identifier: Apache-2.0
/* child.h - starts a program built from chain.c and reads the stack that it prints. */
#pragma once
#include <stddef.h>

#include "process.h"

struct child {
	int pid;
	char **expected; /* innermost first */
	size_t n;
};

/* Starts the program and waits until it prints "ready". */
struct child child_start(const char *program, const char *depth, const char *mode);
void child_finish(struct child *c);
/* Returns whether the frames are the expected ones: every name in order and nothing between them except
 * where "*" allows it. Above the first there may be the function that stopped the process, below
 * main those of libc. Prints the frame that differs. */
int child_agrees(struct test_process *p, const struct child *c, const struct host_stack *s);
/* Prints the frames around one, and why the walk ended. */
void show_frames(struct test_process *p, const struct host_stack *s, size_t at);

/* Binds this process and those that it starts to one CPU. A process that steps another takes turns
 * with it; on one CPU a step needs no message to another CPU, which is slow where CPUs are emulated. */
void stay_on_cpu(void);

/* Prints a line of TAP. */
void ok(int good, const char *program, const char *what);
int plan(void); /* the last line; main's result */
