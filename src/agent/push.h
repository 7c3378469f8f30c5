/* SPDX-License-Identifier: Apache-2.0 */
/* push.h - strata --push: brings a program to hosts that do not have this version of strata, and runs it there. No file
 * of it is left, however it ends. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct push;

/* The path of this program. */
#define PUSH_SELF "/proc/self/exe"

/* Reads the program. version: that of this strata, which must live as long. Returns NULL if the program cannot be read,
 * or cannot run elsewhere, which is reported. */
struct push *push_open(const char *path, const char *version);
void push_free(struct push *p);
/* Returns the text for a host's shell that runs `command`, words of which the first is strata: with the host's, if it
 * has this version, else with the program. The caller frees it. */
char *push_command(const struct push *p, const char *command);
/* Returns whether a line of the command's output asks for the program on its standard input. */
bool push_is_wanted(const char *line, size_t n);
/* Returns the bytes to send then, which are the program's. */
const char *push_bytes(struct push *p, size_t *ret_n);
