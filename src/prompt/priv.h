// SPDX-License-Identifier: Apache-2.0
/* priv.h - shared by the files of the prompt, and private to them. */
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
	bool asked;   /* Ctrl-C was pressed without any text */
};

/* A command: `:name args`. */
struct command {
	const char *name, *args, *help;
	void (*run)(struct prompt *p, const char *args);
};
extern const struct command prompt_commands[]; /* ends with a NULL name */

/* Runs a line as if the user had typed it. */
void prompt_line(struct prompt *p, const char *text);

/* Functions of commands.c. */
struct map_content;
/* Reads a map by its name, "@x". The caller frees the content with map_content_done(). Returns false after
 * an error. */
bool prompt_read_map(struct prompt *p, const char *name, struct map_content *ret);
/* In tool.c: runs a tool, "cpu -p 1234", until it ends. Returns false if the text is not a tool with arguments. */
bool prompt_tool(struct prompt *p, const char *text);
/* In top.c: draws the map repeatedly until a key ends it. */
void prompt_top(struct prompt *p, const char *name, double seconds);
void prompt_command(struct prompt *p, const char *line);
/* In tab.c: finds completions. arg is a struct prompt. */
void prompt_complete(void *arg, const char *line, size_t cursor, struct choices *ret);
/* Adds the name and the text after it, if the name begins with the word and is not in the list. */
void prompt_offer(struct choices *c, const char *name, const char *word, const char *tail);
/* In members.c: offers members that begin with the word at `start`: `args.`, `curtask->mm->`. Returns false
 * if no chain of members is before it. */
bool prompt_members(struct prompt *p, const char *line, size_t start, const char *word, struct choices *ret);
