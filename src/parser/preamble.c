// SPDX-License-Identifier: Apache-2.0
/* preamble.c - finds the C part of a script, which is before the first probe and the config block.
 *
 *     #!/usr/bin/env strata
 *     #include <linux/sched.h>          lines of the preprocessor, continued by \ at the end
 *     struct item { int x; };           definitions of struct, union, enum and typedef
 *     begin { ... }                     the first other line ends the part
 *
 * The ';' after the last brace may be missing, except after a typedef: scripts of bpftrace leave it out. */
#include <ctype.h>
#include <string.h>

#include "parse.h"
#include "parser.h"

struct reader {
	const char *text;
	uint32_t at, end;
};

static char next(const struct reader *r, uint32_t ahead)
{
	return r->at + ahead < r->end ? r->text[r->at + ahead] : 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_line(struct reader *r)
{
	const char *nl = memchr(r->text + r->at, '\n', r->end - r->at);

	r->at = nl ? (uint32_t)(nl - r->text) : r->end;
}

/* Skips a comment. Returns false if there is none, or it is not closed. */
static bool skip_comment(struct reader *r)
{
	const char *end;

	if (next(r, 0) != '/')
		return false;
	if (next(r, 1) == '/') {
		skip_line(r);
		return true;
	}
	if (next(r, 1) != '*' || r->end - r->at < 4)
		return false;
	end = memmem(r->text + r->at + 2, r->end - r->at - 2, "*/", 2);
	if (end)
		r->at = (uint32_t)(end + 2 - r->text);
	return end;
}

/* Skips the line that names the interpreter, which may follow a comment. */
static bool skip_interpreter(struct reader *r)
{
	if (next(r, 0) != '#' || next(r, 1) != '!' || (r->at > 0 && r->text[r->at - 1] != '\n'))
		return false;
	skip_line(r);
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (isspace((unsigned char)next(r, 0)) || skip_comment(r))
		r->at += isspace((unsigned char)next(r, 0)) != 0;
}

/* Skips a string or character. If it is not closed, it ends with the line. */
static void skip_quoted(struct reader *r)
{
	char quote = next(r, 0);

	for (r->at++; r->at < r->end && next(r, 0) != quote && next(r, 0) != '\n'; r->at++)
		if (next(r, 0) == '\\' && r->at + 1 < r->end)
			r->at++;
	r->at += next(r, 0) == quote;
}

/* Skips one character, comment or string. */
static void skip_item(struct reader *r)
{
	char c = next(r, 0);

	if (c == '"' || c == '\'')
		skip_quoted(r);
	else if (!skip_comment(r))
		r->at++;
}

/* Called at '#': skips the line and its continuation lines, up to the end of the last one. */
static void skip_directive(struct reader *r)
{
	while (r->at < r->end && next(r, 0) != '\n') {
		if (next(r, 0) == '\\' && next(r, 1) == '\n')
			r->at += 2;
		else if (next(r, 0) == '\\' && next(r, 1) == '\r' && next(r, 2) == '\n')
			r->at += 3;
		else
			skip_item(r);
	}
}

/* Returns whether only blanks are between the byte and the start of its line. */
static bool begins_line(const struct reader *r)
{
	uint32_t at = r->at;

	while (at > 0 && (r->text[at - 1] == ' ' || r->text[at - 1] == '\t'))
		at--;
	return at == 0 || r->text[at - 1] == '\n';
}

static bool at_word(const struct reader *r, const char *word)
{
	size_t n = strlen(word);

	return r->end - r->at >= n && !memcmp(r->text + r->at, word, n) && !is_word(next(r, (uint32_t)n));
}

static bool at_definition(const struct reader *r)
{
	return at_word(r, "struct") || at_word(r, "union") || at_word(r, "enum") || at_word(r, "typedef");
}

/* Called after a '(': moves past the ')' that closes it. */
static void skip_parentheses(struct reader *r)
{
	for (unsigned open = 1; r->at < r->end && open;) {
		open += next(r, 0) == '(';
		open -= next(r, 0) == ')';
		skip_item(r);
	}
}

/* Skips attributes: __attribute__((packed)). */
static void skip_attributes(struct reader *r)
{
	for (struct reader tail = *r;; *r = tail) {
		skip_blanks(&tail);
		if (!at_word(&tail, "__attribute__"))
			return;
		tail.at += strlen("__attribute__");
		skip_blanks(&tail);
		if (next(&tail, 0) != '(')
			return;
		tail.at++;
		skip_parentheses(&tail);
	}
}

/* Called after the last brace: moves past the ';' that ends the definition, or past attributes. */
static void skip_declarators(struct reader *r)
{
	struct reader tail = *r;

	for (unsigned open = 0; tail.at < tail.end;) {
		char c = next(&tail, 0);

		open += c == '(';
		open -= c == ')' && open;
		if (!open && c == ';') {
			r->at = tail.at + 1;
			return;
		}
		if (!open && !is_word(c) && !isspace((unsigned char)c) && !strchr("*,()[]/", c))
			break;
		if (!open && c == '/' && next(&tail, 1) != '/' && next(&tail, 1) != '*')
			break;
		skip_item(&tail);
	}
	skip_attributes(r);
}

static bool not_closed(struct diags *d, struct span at, bool has_body, bool brace)
{
	diag(d, at, DIAG_C, brace ? "the '{' of this definition is not closed" : "this definition has no end");
	if (!brace)
		diag_hint(d, has_body ? "a ';' is missing after its '}'" : "definitions of C end with ';'");
	return false;
}

/* Called at the first word of a definition. Returns false if it is not closed, after an error. */
static bool skip_definition(struct reader *r, struct diags *d)
{
	struct span word = {r->at, r->at + (uint32_t)strcspn(r->text + r->at, " \t\r\n\f\v{/")};
	bool is_typedef = at_word(r, "typedef"), has_body = false;
	unsigned open = 0;

	while (r->at < r->end) {
		char c = next(r, 0);

		if (c == '#' && begins_line(r)) {
			skip_directive(r);
			continue;
		}
		if (c == '{' && !open && has_body)
			return not_closed(d, word, true, false);
		has_body |= c == '{';
		open += c == '{';
		open -= c == '}' && open;
		skip_item(r);
		if (c == ';' && !open)
			return true;
		if (c == '}' && !open && !is_typedef) {
			skip_declarators(r);
			return true;
		}
	}
	return not_closed(d, word, has_body, open);
}

struct span preamble_span(const struct source *src, struct span file, struct diags *d)
{
	struct reader r = {src->text, file.start, file.end};
	struct span part;

	do
		skip_blanks(&r);
	while (skip_interpreter(&r));
	part = (struct span){r.at, r.at};
	for (;;) {
		skip_blanks(&r);
		if (next(&r, 0) == '#')
			skip_directive(&r);
		else if (!at_definition(&r))
			break;
		else if (!skip_definition(&r, d))
			return (struct span){r.end, r.end};
		part.end = r.at;
	}
	return part;
}
