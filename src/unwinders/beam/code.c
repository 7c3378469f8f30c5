// SPDX-License-Identifier: Apache-2.0
/* code.c - names of code positions in Erlang: the kernel half has sent all of their text. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "beam.h"
#include "unwinders/idmap.h"
#include "unwinders/texts.h"
#include "unwinders/unwinders.h"

#define FRAMES_MAX (1 << 19) /* maximum number of frames, kept twice: the new ones, and those before */

struct beam_codes {
	struct texts *texts;
	struct beam_names {
		struct arena *arena;
		struct idmap names; /* frame -> struct frame_name *, in arena */
	} frames, before;
	struct str name, file; /* reused */
};

struct beam_codes *beam_codes_new(void)
{
	struct beam_codes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->frames.arena = arena_new();
	c->texts = texts_new();
	if (!c->texts) {
		beam_codes_free(c);
		return NULL;
	}
	return c;
}

static void names_done(struct beam_names *n)
{
	idmap_done(&n->names);
	arena_free(n->arena);
}

void beam_codes_free(struct beam_codes *c)
{
	if (!c)
		return;
	names_done(&c->frames);
	names_done(&c->before);
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

static const struct frame_name *known_frame(const struct beam_codes *c, uint64_t frame)
{
	const struct frame_name *name = idmap_pointer(&c->frames.names, frame);

	return name ? name : idmap_pointer(&c->before.names, frame);
}

/* Forgets frames that were not sent again since the last time. Names that were used are kept elsewhere. */
static void begin_anew(struct beam_codes *c)
{
	names_done(&c->before);
	c->before = c->frames;
	c->frames = (struct beam_names){ .arena = arena_new() };
}

void beam_codes_record(struct beam_codes *c, const struct beam_record *r)
{
	struct frame_name *name;

	if (idmap_find(&c->frames.names, r->frame))
		return;
	if (c->frames.names.n >= FRAMES_MAX)
		begin_anew(c);
	set_name(&c->name, r);
	set_file(&c->file, r);
	name = arena_new_obj(c->frames.arena, struct frame_name);
	*name = (struct frame_name){ .lang = FRAME_LANG_BEAM, .line = r->line };
	name->name = texts_keep(c->texts, c->name.data);
	if (c->file.len)
		name->file = texts_keep(c->texts, c->file.data);
	idmap_set(&c->frames.names, r->frame, (uintptr_t)name);
}

bool beam_codes_name(const struct beam_codes *c, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *known = known_frame(c, frame);

	if (frame == FRAME_BEAM_RUNTIME)
		*ret = (struct frame_name){ .lang = FRAME_LANG_BEAM, .name = "<runtime>" };
	else
		*ret = known ? *known : (struct frame_name){ .lang = FRAME_LANG_BEAM };
	return ret->name;
}
