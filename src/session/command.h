// SPDX-License-Identifier: Apache-2.0
/* command.h - what system() and cat() print: the output of a command, the start of a file. */
#pragma once
#include <stddef.h>

struct str;

/* Runs a command by /bin/sh, without input, and appends what it and its children write to stdout and
 * stderr until it ends. That it failed is reported. A command that still runs a second after a signal
 * has asked strata to end (stop.h) is killed, with its children. */
void command_run(const char *command, struct str *out);
/* Appends max bytes of a file at most. Does not wait: a pipe has what is in it. 0 or -errno. */
int file_start(const char *path, size_t max, struct str *out);
