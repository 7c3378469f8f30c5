// SPDX-License-Identifier: Apache-2.0
/* child.h - the command of -c: made first, held until the probes are attached. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct target;

struct child {
	pid_t pid;     /* 0: none */
	char **argv;   /* owned */
	int go;        /* write end: a byte lets the command run */
	int result;    /* read end: errno of a failed exec, or end of file */
	bool traced;   /* held by ptrace at the exec of its real program */
};

/* Splits as a shell would (quotes, backslashes; no expansion), forks, holds. 0 or
 * -errno, reported. */
int child_start(struct target *t, const char *command, struct child *ret);
/* Runs the command as far as the exec of an ELF file called name (its own name or
 * argv[0]) and holds it there: through a version manager's scripts. Its path, to be
 * free()d, or NULL: it ended without (reported). */
char *child_run_to_exec(struct child *c, const char *name);
/* Lets it run: 0, or -errno when it could not be executed, reported. */
int child_release(struct child *c);
/* Ends it: SIGTERM, then SIGKILL; waits. */
void child_stop(struct child *c);
