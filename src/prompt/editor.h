// SPDX-License-Identifier: Apache-2.0
/* editor.h - the line that is edited at the prompt: keys, history, suggestions, and what is printed while
 * it is edited. libedit edits; this file waits for keys and events, and lifts the line out of the way of
 * what is printed. One at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "prompt/choices.h"

struct editor;

struct editor_calls {
	void *arg;
	/* Readable when events() is to be called; -1: never. */
	int fd;
	/* Handles what has happened; it may print to editor_output() and stderr. *ret_soon: call again as
	 * soon as no key is pressed. false: stop reading lines. */
	bool (*events)(void *arg, bool *ret_soon);
	/* Is the text a whole line? Else Enter begins another one in it. */
	bool (*is_whole)(void *arg, const char *text);
	void (*complete)(void *arg, const char *line, size_t cursor, struct choices *ret);
};

enum editor_result {
	EDITOR_LINE,
	EDITOR_CANCELLED,   /* Ctrl-C, with something typed */
	EDITOR_INTERRUPTED, /* Ctrl-C */
	EDITOR_END,         /* Ctrl-D, or the input has ended */
	EDITOR_STOPPED,     /* events() said so */
};

/* Edits on stdin and stdout, and takes over stderr. history: the path of the file, which is made with its
 * directories; or NULL. colour: of the prompt and of suggestions. 0 or -errno, reported. */
int editor_open(const struct editor_calls *calls, const char *history, bool colour, struct editor **ret);
/* A line without its last newline, valid until the next call; what is whole goes into the history. */
enum editor_result editor_read(struct editor *e, const char **ret);
/* Writes to the terminal, above the line that is edited; whole lines, as far as possible. */
size_t editor_write(struct editor *e, const char *text, size_t size);
/* While the screen is used for something else, what is written is held back. */
void editor_hold(struct editor *e, bool hold);
/* Columns and rows of the terminal. */
void editor_size(const struct editor *e, unsigned *columns, unsigned *rows);
/* Restores the terminal. */
void editor_close(struct editor *e);
