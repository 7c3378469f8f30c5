// SPDX-License-Identifier: Apache-2.0
/* child.h - a program of chain.c, and what it says of its own stack. */
#pragma once
#include <stddef.h>

#include "process.h"

struct child {
	int pid;
	char **expected; /* innermost first */
	size_t n;
};

/* Until it says "ready". */
struct child child_start(const char *program, const char *depth, const char *mode);
void child_finish(struct child *c);
/* Whether the frames are the expected ones: every name in order and nothing between,
 * but where "*" allows; above the first what stops us, below main what libc does. Tells
 * what is not. */
int child_agrees(struct test_process *p, const struct child *c, const struct host_stack *s);
/* Frames around one, and the end. */
void show_frames(struct test_process *p, const struct host_stack *s, size_t at);

/* This process and those that it starts take turns on one CPU, as where one steps the other: a
 * step is then no message to another CPU, which takes long where CPUs are emulated. */
void stay_on_cpu(void);

/* A line of TAP. */
void ok(int good, const char *program, const char *what);
int plan(void); /* the last line; main's result */
