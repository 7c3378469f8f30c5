// SPDX-License-Identifier: Apache-2.0
/* tab.c - completes a line: commands; attach points outside of braces; names inside. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "cli/complete.h"
#include "model/builtin.h"
#include "prompt/priv.h"

enum { CHOICES_MAX = 1000 };

void prompt_offer(struct choices *c, const char *name, const char *word, const char *tail)
{
	char text[512];

	if (strncmp(name, word, strlen(word)) != 0)
		return;
	if (c->texts.len == CHOICES_MAX) {
		c->left_out++;
		return;
	}
	snprintf(text, sizeof(text), "%s%s", name, tail);
	for (size_t i = 0; i < c->texts.len; i++)
		if (!strcmp(c->texts.data[i], text))
			return;
	choices_add(c, text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void offer_commands(const char *word, struct choices *ret)
{
	for (const struct command *c = prompt_commands; c->name; c++)
		prompt_offer(ret, c->name, word, *c->args ? " " : "");
}

/* The completion for shells has one line per probe, with a tab after it. */
static void offer_probes(struct prompt *p, const char *word, struct choices *ret)
{
	struct compile c = {.arena = arena_new()};
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	p->opt.prepare(p->opt.arg, &c);
	c.req.listing = true;
	if (out) {
		complete_argument(&c.req, "-l", word, out);
		fclose(out);
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			line[strcspn(line, "\t")] = 0;
			prompt_offer(ret, line, word, "");
		}
	}
	arena_free(c.arena);
}

static void offer_maps(const struct prompt *p, const char *word, struct choices *ret)
{
	for (size_t i = 0; i < p->lines.images.len; i++) {
		const struct image *img = p->lines.images.data[i];

		for (unsigned k = 0; k < img->nmaps; k++)
			prompt_offer(ret, img->maps[k].name, word, img->maps[k].key ? "[" : "");
	}
}

static void offer_names(const struct prompt *p, const char *word, struct choices *ret)
{
	static const char *const words[] = {"if", "else", "for", "while", "unroll", "let", "return", "break",
		"continue", "sizeof", "offsetof", "typeof", "true", "false"};

	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			prompt_offer(ret, b->name, word, b->flags & BUILTIN_VAR ? "" : "(");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		prompt_offer(ret, words[i], word, "");
	for (size_t i = 0; i < p->lines.definitions.len; i++)
		if (p->lines.definitions.data[i].name)
			prompt_offer(ret, p->lines.definitions.data[i].name, word, "(");
}

/* Returns the number of open braces at the cursor. */
static unsigned depth_at(const char *line, size_t cursor)
{
	unsigned depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < cursor; i++) {
		if (line[i] == '"' && (!i || line[i - 1] != '\\'))
			quoted = !quoted;
		else if (!quoted && line[i] == '{')
			depth++;
		else if (!quoted && line[i] == '}' && depth)
			depth--;
	}
	return depth;
}

/* Returns the start of the word at the cursor. `more` has further characters that words may contain. */
static size_t word_start(const char *line, size_t cursor, const char *more)
{
	while (cursor && (isalnum((unsigned char)line[cursor - 1]) || strchr(more, line[cursor - 1])))
		cursor--;
	return cursor;
}

static void complete_name(struct prompt *p, const char *line, size_t cursor, struct choices *ret)
{
	size_t start = word_start(line, cursor, "_");
	_cleanup_(freep) char *word = strndup(line + start, cursor - start);

	ret->replaces = cursor - start;
	if (start && line[start - 1] == '@')
		offer_maps(p, word, ret);
	else if (!prompt_members(p, line, start, word, ret))
		offer_names(p, word, ret);
}

static void complete_probe(struct prompt *p, const char *line, size_t cursor, struct choices *ret)
{
	size_t start = word_start(line, cursor, "_:/.*-+~$\"@");
	_cleanup_(freep) char *word = strndup(line + start, cursor - start);

	if (*word == '@') {
		complete_name(p, line, cursor, ret);
		return;
	}
	ret->replaces = cursor - start;
	offer_probes(p, word, ret);
	if (!strchr(word, ':'))
		offer_names(p, word, ret);
}

void prompt_complete(void *arg, const char *line, size_t cursor, struct choices *ret)
{
	struct prompt *p = arg;
	size_t blanks = strspn(line, " \t");
	bool command = line[blanks] == ':' && cursor > blanks;
	size_t name = command ? strcspn(line + blanks + 1, " \t") : 0;

	if (command && blanks + 1 + name >= cursor) {
		_cleanup_(freep) char *word = strndup(line + blanks + 1, cursor - blanks - 1);

		ret->replaces = cursor - blanks - 1;
		offer_commands(word, ret);
	} else if (depth_at(line, cursor)) {
		complete_name(p, line, cursor, ret);
	} else {
		complete_probe(p, line, cursor, ret);
	}
	if (ret->texts.len)
		qsort(ret->texts.data, ret->texts.len, sizeof(char *), by_text);
}
