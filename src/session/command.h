// SPDX-License-Identifier: Apache-2.0
/* command.h - the texts of system() and cat(): the output of a command, the start of a file. */
#pragma once
#include <stddef.h>

struct str;

/* Runs a command by /bin/sh, without input, and appends the output of it and its children on stdout and
 * stderr until it ends. Failure is reported. A command that still runs a second after a signal has asked
 * strata to end (stop.h) is killed with its children. */
void command_run(const char *command, struct str *out);
/* Appends at most max bytes of a file. Does not wait: a pipe gives its present content. Returns 0 on
 * success, -errno on failure. */
int file_start(const char *path, size_t max, struct str *out);
