// SPDX-License-Identifier: Apache-2.0
/* priv.h - what the files of the prompt share; private to them. */
#pragma once
#include "prompt/editor.h"
#include "prompt/lines.h"
#include "prompt/prompt.h"

struct stream;

struct prompt {
	struct prompt_options opt;
	struct session *session;
	struct stream *stream;
	struct editor *editor;
	struct settings settings;
	struct lines lines;
	bool leaving;
	bool asked;   /* Ctrl-C was pressed with nothing typed */
};

/* A command: `:name args`. */
struct command {
	const char *name, *args, *help;
	void (*run)(struct prompt *p, const char *args);
};
extern const struct command prompt_commands[]; /* ends with a NULL name */

/* Runs a line as if it was typed. */
void prompt_line(struct prompt *p, const char *text);

/* commands.c */
struct map_content;
/* A map by its name, "@x", whose content is to be map_content_done(). false after a complaint. */
bool prompt_read_map(struct prompt *p, const char *name, struct map_content *ret);
/* top.c: draws the map until a key ends it. */
void prompt_top(struct prompt *p, const char *name, double seconds);
void prompt_command(struct prompt *p, const char *line);
/* complete.c: what TAB offers; arg: struct prompt. */
void prompt_complete(void *arg, const char *line, size_t cursor, struct choices *ret);
/* Adds the name, with what stands behind it, if it begins with the word and is not there. */
void prompt_offer(struct choices *c, const char *name, const char *word, const char *tail);
/* members.c: offers what begins with the word that starts there, if it is a member's: `args.`, `curtask->mm->`.
 * false: nothing of that kind stands in front of it. */
bool prompt_members(struct prompt *p, const char *line, size_t start, const char *word, struct choices *ret);
