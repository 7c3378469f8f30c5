// SPDX-License-Identifier: Apache-2.0
/* cpart_plain.c - reads C parts that need no compiler: comments, macros that are an integer, and the rest
 * of an #ifdef of BPFTRACE_HAVE_BTF. Loading libclang takes longer than the rest of a start, and some
 * builds do not have it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cpart.h"
#include "model/type.h"
#include "source.h"

struct plain_macro {
	const char *name;
	struct constant value; /* type is NULL for an empty macro */
};

enum { DEPTH_MAX = 16 };

struct plain {
	struct arena *arena;
	bool has_btf;
	VEC(struct plain_macro) macros;
	bool is_taken[DEPTH_MAX], had_else[DEPTH_MAX]; /* for each #if that is open */
	unsigned depth, skipped;                       /* open #ifs outside of skipped text, and within */
};

/* ---- the source --------------------------------------------------------- */

static const struct plain_macro *find_macro(const struct plain *p, const char *name)
{
	for (size_t i = 0; i < p->macros.len; i++)
		if (!strcmp(p->macros.data[i].name, name))
			return &p->macros.data[i];
	return NULL;
}

static const struct type *no_type(void *state, enum type_tag tag, const char *name)
{
	return NULL;
}

static void no_names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg)
{
}

static bool plain_constant(void *state, const char *name, struct constant *ret)
{
	const struct plain_macro *m = find_macro(state, name);

	if (m)
		*ret = m->value;
	return m && m->value.type;
}

static const char *plain_text(void *state, const char *name)
{
	const struct plain_macro *m = find_macro(state, name);

	return m && !m->value.type ? "" : NULL;
}

static void plain_close(void *state)
{
	vec_done(&((struct plain *)state)->macros);
}

/* ---- lines -------------------------------------------------------------- */

/* Returns the next word of the line, or NULL if something else comes. */
static const char *take_word(struct plain *p, const char **at)
{
	const char *start = *at += strspn(*at, " \t");
	size_t n = 0;

	while (isalnum((unsigned char)start[n]) || start[n] == '_')
		n++;
	if (!n || isdigit((unsigned char)*start))
		return NULL;
	*at += n;
	return arena_strndup(p->arena, start, n);
}

static bool is_end(const char *at)
{
	return !at[strspn(at, " \t\r\f\v")];
}

/* Reads an integer constant. Its type is the first that has room, of those that C allows for its suffix and
 * base. */
static bool read_int(const char *at, struct constant *ret)
{
	bool is_decimal = *at != '0', is_unsigned, is_long;
	char *end;

	if (!isdigit((unsigned char)*at))
		return false;
	errno = 0;
	ret->value = strtoull(at, &end, 0);
	is_unsigned = (*end | 32) == 'u';
	end += is_unsigned;
	is_long = (*end | 32) == 'l';
	end += is_long ? 1 + (end[1] == *end) : 0;
	if (is_long && !is_unsigned && (*end | 32) == 'u') {
		is_unsigned = true;
		end++;
	}
	is_long |= ret->value > (is_unsigned || !is_decimal ? UINT32_MAX : INT32_MAX);
	is_unsigned |= !is_decimal && ret->value > (is_long ? INT64_MAX : INT32_MAX);
	ret->type = type_int(is_long ? 8 : 4, !is_unsigned);
	return !errno && is_end(end) && (is_unsigned || ret->value <= INT64_MAX);
}

static bool read_define(struct plain *p, const char *at)
{
	struct plain_macro m = {.name = take_word(p, &at)};

	if (!m.name || find_macro(p, m.name) || (*at && !isspace((unsigned char)*at)))
		return false;
	at += strspn(at, " \t");
	if (!is_end(at) && !read_int(at, &m.value))
		return false;
	vec_push(&p->macros, m);
	return true;
}

/* Names that the compiler defines are not known here. */
static bool read_condition(struct plain *p, const char *at, bool wants)
{
	const char *name = take_word(p, &at);
	bool is_btf = name && !strcmp(name, TYPES_HAVE_BTF);

	if (!name || !is_end(at) || p->depth == DEPTH_MAX || !(is_btf || find_macro(p, name)))
		return false;
	p->is_taken[p->depth] = (!is_btf || p->has_btf) == wants;
	p->had_else[p->depth++] = false;
	return true;
}

static bool is_left_out(const struct plain *p)
{
	return p->depth && !p->is_taken[p->depth - 1];
}

/* Reads #else or #endif. */
static bool read_turn(struct plain *p, bool ends)
{
	if (!p->depth || (!ends && p->had_else[p->depth - 1]))
		return false;
	if (ends) {
		p->depth--;
	} else {
		p->is_taken[p->depth - 1] = !p->is_taken[p->depth - 1];
		p->had_else[p->depth - 1] = true;
	}
	return true;
}

/* Within skipped text, only #if and similar directives count. */
static bool skip_directive(struct plain *p, const char *word)
{
	if (!strcmp(word, "if") || !strcmp(word, "ifdef") || !strcmp(word, "ifndef")) {
		p->skipped++;
		return true;
	}
	if (p->skipped) {
		p->skipped -= !strcmp(word, "endif");
		return true;
	}
	if (!strcmp(word, "endif") || !strcmp(word, "else"))
		return read_turn(p, !strcmp(word, "endif"));
	return strcmp(word, "elif") != 0;
}

static bool read_directive(struct plain *p, const char *at)
{
	const char *word = take_word(p, &at);

	if (!word)
		return is_left_out(p);
	if (is_left_out(p))
		return skip_directive(p, word);
	if (!strcmp(word, "define"))
		return read_define(p, at);
	if (!strcmp(word, "ifdef") || !strcmp(word, "ifndef"))
		return read_condition(p, at, !strcmp(word, "ifdef"));
	return (!strcmp(word, "else") || !strcmp(word, "endif")) && read_turn(p, !strcmp(word, "endif"));
}

static bool read_line(struct plain *p, const char *line)
{
	line += strspn(line, " \t\r\f\v");
	return *line == '#' ? read_directive(p, line + 1) : !*line || is_left_out(p);
}

/* Replaces comments by blanks. Returns false if a comment is not closed, or if a line ends with a
 * backslash. */
static bool drop_comments(char *text)
{
	char *to = text, quote = 0;

	for (char *end, *c = text; *c; c++) {
		if (c[0] == '\\' && (c[1] == '\n' || c[1] == '\r'))
			return false;
		if (*c == '\n' || *c == quote)
			quote = 0;
		else if (!quote && (*c == '"' || *c == '\''))
			quote = *c;
		if (!quote && c[0] == '/' && c[1] == '/') {
			c += strcspn(c, "\n") - 1;
		} else if (!quote && c[0] == '/' && c[1] == '*') {
			end = strstr(c + 2, "*/");
			if (!end)
				return false;
			c = end + 1;
			*to++ = ' ';
		} else {
			*to++ = *c;
		}
	}
	*to = 0;
	return true;
}

bool cpart_plain(struct types *ts, const struct source *src, struct span part)
{
	struct arena *a = types_arena(ts);
	struct plain *p = arena_new_obj(a, struct plain);
	char *next, *text = arena_strndup(a, src->text + part.start, part.end - part.start);
	struct type_source s = {.state = p, .find = no_type, .constant = plain_constant, .macro = plain_text,
		.names = no_names, .close = plain_close};
	bool ok = drop_comments(text);

	p->arena = a;
	p->has_btf = types_has_btf(ts);
	for (char *line = text; ok && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		ok = read_line(p, line);
	}
	ok = ok && !p->depth;
	if (ok)
		types_add_source(ts, &s);
	else
		vec_done(&p->macros);
	return ok;
}
