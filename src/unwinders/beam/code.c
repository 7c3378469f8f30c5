// SPDX-License-Identifier: Apache-2.0
/* code.c - names of code positions in Erlang: the kernel half has sent all of their text. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "beam.h"
#include "unwinders/frame_store.h"
#include "unwinders/texts.h"
#include "unwinders/unwinders.h"

struct beam_codes {
	struct texts *texts;
	struct frame_store frames;
	struct str name, file; /* reused */
};

struct beam_codes *beam_codes_new(void)
{
	struct beam_codes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	frame_store_open(&c->frames);
	c->texts = texts_new();
	if (!c->texts) {
		beam_codes_free(c);
		return NULL;
	}
	return c;
}

void beam_codes_free(struct beam_codes *c)
{
	if (!c)
		return;
	frame_store_done(&c->frames);
	texts_free(c->texts);
	str_done(&c->name);
	str_done(&c->file);
	free(c);
}

/* ---- text ---- */

struct span {
	const char *p;
	size_t n;
};

static struct span span_of(const struct beam_text *t)
{
	return (struct span){ (const char *)t->chars, t->size < BEAM_TEXT_MAX ? t->size : BEAM_TEXT_MAX };
}

static void add(struct str *out, struct span s)
{
	str_addn(out, s.p, s.n);
}

static bool is_reserved(struct span s)
{
	static const char *const words[] = { "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr",
		"bxor", "case", "catch", "cond", "div", "else", "end", "fun", "if", "let", "maybe", "not", "of", "or",
		"orelse", "receive", "rem", "try", "when", "xor" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == s.n && !memcmp(words[i], s.p, s.n))
			return true;
	return false;
}

static bool is_word(struct span s)
{
	if (!s.n || s.p[0] < 'a' || s.p[0] > 'z')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '@')
			return false;
	}
	return !is_reserved(s);
}

/* Appends an atom as Erlang writes it. */
static void add_atom(struct str *out, struct span s)
{
	bool plain = is_word(s);

	if (!plain)
		str_addc(out, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'' || s.p[i] == '\\')
			str_addc(out, '\\');
		str_addc(out, s.p[i]);
	}
	if (!plain)
		str_addc(out, '\'');
}

/* The atoms of Elixir's modules begin so; `Enum` is 'Elixir.Enum'. */
static const char elixir[] = "Elixir.";

static bool is_elixir(struct span *module)
{
	size_t n = sizeof(elixir) - 1;

	if (module->n <= n || memcmp(module->p, elixir, n) != 0)
		return false;
	module->p += n;
	module->n -= n;
	return true;
}

/* Sets the function, with its arity, that contains a fun: "-map/2-fun-0-". Returns false if it is not a fun's name. */
static bool contains_fun(struct span name, struct span *ret)
{
	const char *fun = name.n > 1 && name.p[0] == '-' ? memmem(name.p, name.n, "-fun-", 5) : NULL;

	if (!fun || fun == name.p)
		return false;
	*ret = (struct span){ name.p + 1, (size_t)(fun - name.p) - 1 };
	return true;
}

static void set_name(struct str *out, const struct beam_record *r)
{
	struct span module = span_of(&r->module), function = span_of(&r->function), outer;

	str_clear(out);
	if (!is_elixir(&module)) {
		add_atom(out, module);
		str_addc(out, ':');
		add_atom(out, function);
		str_addf(out, "/%u", r->arity);
	} else if (contains_fun(function, &outer)) {
		str_addf(out, "anonymous fn/%u in ", r->arity);
		add(out, module);
		str_addc(out, '.');
		add(out, outer);
	} else {
		add(out, module);
		str_addc(out, '.');
		add(out, function);
		str_addf(out, "/%u", r->arity);
	}
}

static void set_file(struct str *out, const struct beam_record *r)
{
	str_clear(out);
	if (!r->line)
		return;
	if (r->file.size) {
		add(out, span_of(&r->file));
		return;
	}
	add(out, span_of(&r->module));
	str_addn(out, ".erl", 4);
}

/* ---- the store ---- */

void beam_codes_record(struct beam_codes *c, const struct beam_record *r)
{
	bool known;
	struct frame_name *name = frame_store_add(&c->frames, r->frame, &known);

	if (!name || known)
		return;
	set_name(&c->name, r);
	set_file(&c->file, r);
	*name = (struct frame_name){ .lang = FRAME_LANG_BEAM, .line = r->line };
	name->name = texts_keep(c->texts, c->name.data);
	if (c->file.len)
		name->file = texts_keep(c->texts, c->file.data);
}

bool beam_codes_name(const struct beam_codes *c, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *known = frame_store_find(&c->frames, frame);

	if (frame == FRAME_BEAM_RUNTIME)
		*ret = (struct frame_name){ .lang = FRAME_LANG_BEAM, .name = "<runtime>" };
	else
		*ret = known ? *known : (struct frame_name){ .lang = FRAME_LANG_BEAM };
	return ret->name;
}
