// SPDX-License-Identifier: Apache-2.0
/* traced.h - the process of -p, or the command of -c. */
#pragma once
#include <stdbool.h>

#include "session/child.h"

struct request;
struct target;

struct traced {
	struct target *target;
	int pid;            /* of -p, the first one; 0 without it */
	bool tree;          /* several -p, or --children: the processes of map `tree` are traced */
	struct child child; /* of -c; its pid is 0 without it */
	char *exe;          /* the program that it runs; owned */
};

/* Functions for struct request: find_exe() and traced_files(). Its find_arg is a struct traced. */
const char *traced_find(const struct request *req, const char *name);
const char *const *traced_files(const struct request *req, bool all);
