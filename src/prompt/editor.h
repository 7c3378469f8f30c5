// SPDX-License-Identifier: Apache-2.0
/* editor.h - edits a line at the prompt: keys, history, suggestions, and output that comes while the line
 * is edited. libedit edits; this code waits for keys and events, and lifts the line out of the way of
 * output. Only one editor can be open. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "prompt/choices.h"

struct editor;

struct editor_calls {
	void *arg;
	/* Readable when events() must be called; -1 if there are no events. */
	int fd;
	/* Handles events; it may print to editor_output() and stderr. *ret_soon: call it again as soon as
	 * no key is pressed. Returns false to stop reading lines. */
	bool (*events)(void *arg, bool *ret_soon);
	/* Returns whether the text is a complete line. If not, Enter adds another line to it. */
	bool (*is_whole)(void *arg, const char *text);
	void (*complete)(void *arg, const char *line, size_t cursor, struct choices *ret);
};

enum editor_result {
	EDITOR_LINE,
	EDITOR_CANCELLED,   /* Ctrl-C after some text */
	EDITOR_INTERRUPTED, /* Ctrl-C without text */
	EDITOR_END,         /* Ctrl-D, or the end of the input */
	EDITOR_STOPPED,     /* events() returned false */
};

/* Edits on stdin and stdout, and takes over stderr. history is the path of the file, which is created with
 * its directories, or NULL. colour applies to the prompt and to suggestions. Returns 0 on success; prints
 * an error and returns -errno on failure. */
int editor_open(const struct editor_calls *calls, const char *history, bool colour, struct editor **ret);
/* Reads a line and removes its last newline. It is valid until the next call. Complete lines go into the
 * history. */
enum editor_result editor_read(struct editor *e, const char **ret);
/* Writes to the terminal, above the line that is edited. Writes whole lines, as far as possible. */
size_t editor_write(struct editor *e, const char *text, size_t size);
/* While hold is set, output is held back, since the screen is used for something else. */
void editor_hold(struct editor *e, bool hold);
/* Returns columns and rows of the terminal. */
void editor_size(const struct editor *e, unsigned *columns, unsigned *rows);
/* Restores the terminal. */
void editor_close(struct editor *e);
