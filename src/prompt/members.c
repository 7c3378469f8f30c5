// SPDX-License-Identifier: Apache-2.0
/* members.c - completes members after `args.` and `curtask->`, and after their members: the names of the
 * probe's arguments, or of a struct's members. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "cli/list.h"
#include "model/provider.h"
#include "model/type.h"
#include "prompt/priv.h"
#include "types/types.h"

enum { CHAIN_MAX = 8 };

/* A chain such as `args.a->b.`: the root and the names after it. */
struct chain {
	const char *root, *names[CHAIN_MAX];
	unsigned n;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads the words before `end`, each followed by "." or "->". Returns false if there are none, or too many. */
static bool read_chain(struct arena *a, const char *line, size_t end, struct chain *ret)
{
	const char *words[CHAIN_MAX + 1];
	unsigned n = 0;

	while (n <= CHAIN_MAX) {
		size_t dot = end && line[end - 1] == '.' ? 1 : end > 1 && !memcmp(line + end - 2, "->", 2) ? 2 : 0;
		size_t to = end - dot, from = to;

		while (from && is_word(line[from - 1]))
			from--;
		if (!dot || from == to)
			break;
		words[n++] = arena_strndup(a, line + from, to - from);
		end = from;
	}
	if (!n || n > CHAIN_MAX || (end && strchr("@$)]", line[end - 1])))
		return false;
	ret->root = words[n - 1];
	for (ret->n = 0; ret->n + 1 < n; ret->n++)
		ret->names[ret->n] = words[n - 2 - ret->n];
	return true;
}

/* Returns the first attach point of the probe that contains the cursor. */
static const char *probe_at(struct arena *a, const char *line, size_t cursor)
{
	size_t start = 0, depth = 0;

	for (size_t i = 0; i < cursor; i++) {
		depth += line[i] == '{';
		if (line[i] == '}' && depth && !--depth)
			start = i + 1;
	}
	start += strspn(line + start, " \t\n");
	return arena_strndup(a, line + start, strcspn(line + start, " \t\n,{"));
}

/* Returns the type at the end of the chain, starting from t, or NULL if the names lead nowhere. */
static const struct type *follow(struct types *ts, const struct type *t, const struct chain *c, unsigned from)
{
	for (unsigned i = from; t; i++) {
		struct member m = {};

		if (t->kind == TYPE_POINTER)
			t = t->pointer.to;
		if (t->kind != TYPE_STRUCT)
			return NULL;
		t = types_complete(ts, t);
		if (i >= c->n)
			return t;
		t = type_member(t, c->names[i], &m) ? m.type : NULL;
	}
	return NULL;
}

static void offer_struct(const struct type *t, const char *word, struct choices *ret)
{
	const struct composite *s = t ? composite_of(t) : NULL;

	for (unsigned i = 0; s && i < s->n; i++)
		if (*s->members[i].name)
			prompt_offer(ret, s->members[i].name, word, "");
		else if (s->members[i].type->kind == TYPE_STRUCT)
			offer_struct(s->members[i].type, word, ret);
}

static void offer_args(struct compile *c, const char *probe, const struct chain *chain, const char *word,
	struct choices *ret)
{
	const struct provider *p = provider_by_name(providers, probe, strcspn(probe, ":"));
	const struct place *places = NULL;

	if (!p || !p->has_fields || !list_places(&c->req, p, probe, true, &places) || !places)
		return;
	for (const struct field *f = places->fields; f; f = f->next)
		if (!chain->n)
			prompt_offer(ret, f->name, word, "");
		else if (!strcmp(f->name, chain->names[0]))
			offer_struct(follow(c->req.types, f->type, chain, 1), word, ret);
}

bool prompt_members(struct prompt *p, const char *line, size_t start, const char *word, struct choices *ret)
{
	struct compile c = {.arena = arena_new()};
	struct chain chain;
	bool is_chain = read_chain(c.arena, line, start, &chain);

	if (is_chain) {
		p->opt.prepare(p->opt.arg, &c);
		c.req.listing = c.req.lists_args = true;
		c.req.types = types_new(c.arena, p->opt.target);
		if (!strcmp(chain.root, "args"))
			offer_args(&c, probe_at(c.arena, line, start), &chain, word, ret);
		else if (!strcmp(chain.root, "curtask"))
			offer_struct(follow(c.req.types, types_find(c.req.types, TAG_STRUCT, "task_struct"), &chain, 0),
				word, ret);
		types_close(c.req.types);
	}
	arena_free(c.arena);
	return is_chain;
}
