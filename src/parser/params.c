// SPDX-License-Identifier: Apache-2.0
/* params.c - the values of positional parameters.
 *
 * In an attach point a parameter is text. Outside of quotes, a ':' in it separates words, as in the script, so
 * that `$1 { .. }` may be `tracepoint:sched:sched_switch { .. }`. */
#include "params.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/number.h"
#include "base/str.h"
#include "model/attach_point.h"
#include "model/request.h"
#include "parser.h"

/* Returns the text of $N, or "" with a warning if it was not given. */
static const char *param_text(const struct params *p, struct span at, unsigned number)
{
	if (number <= p->req->cmd.nparams)
		return p->req->cmd.params[number - 1];
	diag_warn(p->diags, at, DIAG_PARAM,
		"$%u was not given on the command line: it is 0 or \"\"", number);
	return "";
}

/* Returns whether the whole text is a number as in a script, with or without a sign. */
static bool read_number(const char *text, uint64_t *ret, bool *ret_negative)
{
	*ret_negative = *text == '-';
	text += *ret_negative;
	return !number_literal(text, strlen(text), ret) && (!*ret_negative || *ret <= INT64_MAX);
}

void params_in_expr(const struct params *p, struct expr *n)
{
	unsigned number = n->param.number;
	const char *text = number ? param_text(p, n->span, number) : "";
	uint64_t value = 0;
	bool negative = false;

	n->kind = EXPR_INT;
	if (number == 0) {
		value = p->req->cmd.nparams;
	} else if (*text && !read_number(text, &value, &negative)) {
		n->kind = EXPR_STRING;
		n->string.text = arena_strdup(p->arena, text);
		n->string.len = (uint32_t)strlen(text);
		return;
	}
	n->integer.value = negative ? -value : value;
	n->integer.is_unsigned = !negative && value > INT64_MAX;
	n->integer.param = number ? arena_strdup(p->arena, text) : NULL;
}

/* ---- attach points ------------------------------------------------------ */

/* Adds the text of $N. word is at the '$'. Returns the end of $N. */
static const char *add_param(const struct params *p, const char *word, struct span at, struct str *out)
{
	unsigned number = 0;

	for (; isdigit((unsigned char)word[1]); word++)
		number = number < 9999 ? 10 * number + (unsigned)(word[1] - '0') : 9999;
	str_add(out, param_text(p, at, number));
	return word;
}

/* Replaces $N and $name in a word by their text, also in quotes. */
static const char *word_text(const struct params *p, const char *word, struct span at)
{
	struct str s = {};
	const char *text, *end;

	for (; *word; word++) {
		end = NULL;
		if (word[0] == '$' && isdigit((unsigned char)word[1]) && word[1] != '0')
			end = add_param(p, word, at, &s);
		else if (word[0] == '$')
			end = option_word(p->script, p->req, word, &s);
		if (end)
			word = end;
		else
			str_addc(&s, *word);
	}
	text = arena_strdup(p->arena, str_text(&s));
	str_done(&s);
	return text;
}

/* Returns whether the script has a part of the word in quotes. */
static bool is_quoted(const struct attach_point *ap, unsigned word)
{
	struct span at = ap->word_spans[word];

	return memchr(ap->text + (at.start - ap->span.start), '"', at.end - at.start);
}

static unsigned count_words(const char *text)
{
	unsigned n = 1;

	for (; *text; text++)
		n += *text == ':';
	return n;
}

/* Splits word i, whose text contains ':', into several words. All have the span of the parameter. */
static void split_word(const struct params *p, struct attach_point *ap, unsigned i)
{
	unsigned more = count_words(ap->words[i]) - 1, n = ap->nwords + more;
	const char **words = arena_new_array(p->arena, const char *, n), *text = ap->words[i];
	struct span *spans = arena_new_array(p->arena, struct span, n);

	for (unsigned to = 0; to < n; to++) {
		unsigned from = to <= i ? to : to < i + more ? i : to - more;
		size_t len = strcspn(text, ":");
		bool is_part = to >= i && to <= i + more;

		words[to] = is_part ? arena_strndup(p->arena, text, len) : ap->words[from];
		spans[to] = ap->word_spans[from];
		text += is_part ? len + (text[len] == ':') : 0;
	}
	ap->words = words;
	ap->word_spans = spans;
	ap->nwords = n;
}

void params_in_point(const struct params *p, struct attach_point *ap)
{
	for (unsigned i = 0; i < ap->nwords; i++) {
		const char *before = ap->words[i];

		ap->words[i] = word_text(p, before, ap->word_spans[i]);
		if (!strchr(before, ':') && strchr(ap->words[i], ':') && !is_quoted(ap, i)) {
			unsigned more = count_words(ap->words[i]) - 1;

			split_word(p, ap, i);
			i += more;
		}
	}
}
