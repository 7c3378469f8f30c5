// SPDX-License-Identifier: Apache-2.0
/* child.h - the command of -c: made first, held until the probes are attached. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct target;

struct child {
	pid_t pid;     /* 0: none */
	char **argv;   /* owned */
	int go;        /* write end: a byte starts the command */
	int result;    /* read end: errno of a failed exec, or end of file */
	bool traced;   /* held by ptrace at the exec of its real program */
};

/* Splits the command like a shell (quotes, backslashes; no expansion), forks and holds it. Returns 0 on
 * success, -errno on failure, which it reports. */
int child_start(struct target *t, const char *command, struct child *ret);
/* Runs the command up to the exec of an ELF file called name (its own name or argv[0]) and holds it there:
 * this goes through a version manager's scripts. Returns the file's path, to be free()d, or NULL if the
 * command ended before (reported). */
char *child_run_to_exec(struct child *c, const char *name);
/* Lets the command run. Returns 0 on success, or -errno if it could not be executed, which it reports. */
int child_release(struct child *c);
/* Ends it by SIGTERM, then SIGKILL, and waits. */
void child_stop(struct child *c);
