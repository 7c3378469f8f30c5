/* SPDX-License-Identifier: Apache-2.0 */
/* push.h - strata --push: brings a program to hosts that do not have it yet. The host keeps it in
 * ~/.cache/strata/programs, by its checksum and size, and deletes those that were not used for 30 days. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct push;

/* Reads the program. Returns NULL if it cannot be read, or cannot run elsewhere, which is reported. */
struct push *push_open(const char *path);
void push_free(struct push *p);
/* Returns the text for a host's shell that runs `command`, words of which the first is strata, with this program. The
 * caller frees it. */
char *push_command(const struct push *p, const char *command);
/* Returns whether a line of the command's output asks for the program on its standard input. */
bool push_is_wanted(const char *line, size_t n);
/* Returns the bytes to send then, which are the program's. */
const char *push_bytes(struct push *p, size_t *ret_n);
