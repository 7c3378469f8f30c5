// SPDX-License-Identifier: Apache-2.0
/* attach.c - finds the end of an attach point's text, and splits it into words.
 *
 *     uprobe:/bin/bash:readline/pid == 1/ {
 *            '-- a path --'    '- a predicate
 *
 * Only the second word can be a path. It is one if it begins like a path or, for a probe in a file, if a colon
 * follows the slash ("uprobe:bin/app:main"). Any other slash begins a predicate. */
#include "parse.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/str.h"

/* Returns the index after the quoted text that begins at i. */
static size_t skip_quoted(const char *text, size_t len, size_t i)
{
	for (i++; i < len && text[i] != '"'; i++)
		if (text[i] == '\\')
			i++;
	return i < len ? i + 1 : len;
}

/* Returns whether name[0..len) is a probe type whose probes are in files. */
static bool is_in_file(const char *name, size_t len)
{
	static const char *const types[] = {"u", "uprobe", "ur", "uretprobe", "usdt"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i]) == len && !strncasecmp(types[i], name, len))
			return true;
	return false;
}

/* Returns whether the second word, which begins at run[at], is a path. */
static bool is_path(const char *run, size_t len, size_t at)
{
	const char *end = run + len, *slash = memchr(run + at, '/', len - at), *colon = memchr(run + at, ':', len - at);

	if (at < len && strchr("/.*$~\"", run[at]))
		return true;
	return slash && is_in_file(run, at - 1) && (!colon || colon > slash) && memchr(slash, ':', end - slash);
}

size_t attach_len(const char *run, size_t len)
{
	bool path = false;
	unsigned word = 0;

	for (size_t i = 0; i < len; i++) {
		if (run[i] == '"') {
			i = skip_quoted(run, len, i) - 1;
		} else if (run[i] == ':') {
			word++;
			path = word == 1 && is_path(run, len, i + 1);
		} else if (run[i] == '/' && !path) {
			return i;
		}
	}
	return len;
}

/* Returns the length of a label, `name=`, before an attach point. A label has no meaning. */
static size_t label_len(const char *text)
{
	size_t n = strspn(
		text, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return n && text[n] == '=' ? n + 1 : 0;
}

/* Returns text[from..to) without its quotes; \" inside quotes becomes a quote. */
static const char *unquoted(struct parse *p, const char *text, size_t from, size_t to)
{
	char *out = arena_alloc(p->arena, to - from + 1), *o = out;
	bool inside = false;

	for (size_t i = from; i < to; i++) {
		if (text[i] == '"')
			inside = !inside;
		else if (inside && text[i] == '\\' && i + 1 < to)
			*o++ = text[++i];
		else
			*o++ = text[i];
	}
	return out;
}

static void add_word(struct parse *p, struct attach_point *ap, size_t from, size_t to)
{
	unsigned i = ap->nwords++;

	ap->words[i] = unquoted(p, ap->text, from, to);
	ap->word_spans[i].start = ap->span.start + (uint32_t)from;
	ap->word_spans[i].end = ap->span.start + (uint32_t)to;
}

struct attach_point *attach_point_new(struct parse *p, struct span at, const char *text)
{
	struct attach_point *ap = arena_new_obj(p->arena, struct attach_point);
	size_t len = strlen(text), start = label_len(text), max = 1;

	for (size_t i = 0; i < len; i++)
		max += text[i] == ':';
	ap->span = at;
	ap->text = text;
	ap->words = arena_new_array(p->arena, const char *, max);
	ap->word_spans = arena_new_array(p->arena, struct span, max);
	for (size_t i = start; i < len; i++) {
		if (text[i] == '"') {
			i = skip_quoted(text, len, i) - 1;
		} else if (text[i] == ':') {
			add_word(p, ap, start, i);
			start = i + 1;
		}
	}
	add_word(p, ap, start, len);
	return ap;
}
