// SPDX-License-Identifier: Apache-2.0
/* list.c - -l. A pattern that names a provider is expanded as a probe would be; so
 * what is listed is what can be attached. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/attach_point.h"
#include "model/provider.h"
#include "model/type.h"
#include "parser/ast.h"
#include "target/target.h"
#include "types/kernel.h"

struct listing {
	struct resolve_env *env;
	bool with_args;
	FILE *out;
	unsigned found;
	const struct provider *provider; /* of what a search has found */
	const char *why; /* a type was left out, the last one */
};

/* TYPE is a pattern: of what follows it there is an end. */
static bool matches_type(struct listing *l, const struct provider *p, const char *pattern, size_t n)
{
	const char *rest = pattern + n + 1;

	return (p->finite || (p->file && *rest != '*' && strchr(rest, ':'))) &&
	       glob_match(arena_strndup(l->env->arena, pattern, n), p->name);
}

static void print_one(struct arena *a, const struct place *p, bool with_args, FILE *out)
{
	fprintf(out, "%s\n", p->name);
	if (!with_args)
		return;
	for (const struct field *f = p->fields; f; f = f->next)
		if (f->decl)
			fprintf(out, "    %s\n", f->decl);
		else
			fprintf(out, "    %s %s\n", type_name(a, f->type), f->name);
	if (p->ret_decl)
		fprintf(out, "    %s\n", p->ret_decl);
}

static void print_place(struct listing *l, const struct place *p)
{
	print_one(l->env->arena, p, l->with_args, l->out);
	l->found++;
}

static unsigned split(struct arena *a, const char *pattern, const char **words,
	struct span *spans)
{
	unsigned n = 0;
	const char *p = pattern;

	while (n < 8) {
		const char *colon = strchr(p, ':');
		size_t len = colon ? (size_t)(colon - p) : strlen(p);

		spans[n] = (struct span){p - pattern, p - pattern + len};
		words[n++] = arena_strndup(a, p, len);
		if (!colon)
			break;
		p = colon + 1;
	}
	return n;
}

/* As a probe's attach point. */
bool list_places(struct resolve_env *env, const struct provider *p, const char *pattern, bool quiet,
	const struct place **ret)
{
	struct source src = {.name = "-l", .text = pattern, .len = strlen(pattern)};
	const char *words[8];
	struct span spans[8];
	struct attach_point ap = {
		.span = {0, src.len},
		.text = pattern,
		.words = words,
		.word_spans = spans,
		.nwords = split(env->arena, pattern, words, spans),
		.provider = p,
	};
	bool ok;

	words[0] = p->name;
	env->diags = diags_new(env->arena, &src);
	ok = p->expand(env, &ap);
	if (!ok && !quiet)
		diags_print(env->diags, stderr, false);
	*ret = ok ? ap.places : NULL;
	return ok;
}

static bool expand(struct listing *l, const struct provider *p, const char *pattern, bool quiet)
{
	const struct place *at;
	bool ok = list_places(l->env, p, pattern, quiet, &at);

	for (; at; at = at->next)
		print_place(l, at);
	return ok;
}

/* Said once for all types that lack the same. */
static bool left_out(struct listing *l, const struct provider *p)
{
	const char *why = p->lacks ? p->lacks(l->env->target) : NULL;

	if (why && (!l->why || strcmp(why, l->why)))
		log_warn("%s is left out: %s", p->name, why);
	l->why = why ? why : l->why;
	return why;
}

static void found_name(const char *name, void *arg)
{
	struct listing *l = arg;

	if (l->with_args && l->provider->has_fields) {
		expand(l, l->provider, name, false);
		return;
	}
	fprintf(l->out, "%s\n", name);
	l->found++;
}

static void search_as(struct listing *l, const char *pattern)
{
	for (const struct provider *const *p = providers; *p; p++) {
		l->provider = *p;
		if ((*p)->list && !left_out(l, *p))
			(*p)->list(l->env, pattern, found_name, l);
	}
}

/* Anywhere in a name; with wildcards from its beginning, or from a word's. */
static void search(struct listing *l, const char *pattern)
{
	bool wild = strchr(pattern, '*');

	search_as(l, wild ? pattern : arena_printf(l->env->arena, "*%s*", pattern));
	if (wild && !l->found)
		search_as(l, arena_printf(l->env->arena, "*:%s", pattern));
}

/* A type that is named is listed also where this kernel cannot have it, for scripts that
 * are to run elsewhere. */
static bool list_named(struct listing *l, const struct provider *p, const char *pattern)
{
	const char *why = p->lacks ? p->lacks(l->env->target) : NULL;

	if (why)
		log_warn("nothing of this can be attached here: %s", why);
	return expand(l, p, pattern, false);
}

/* TYPE:..; false: no type is called that, or what follows is not of its form. */
static bool list_types(struct listing *l, const char *pattern, size_t n, bool *ret_known)
{
	const struct provider *named = provider_by_name(providers, pattern, n);

	if (named) {
		*ret_known = true;
		return list_named(l, named, pattern);
	}
	for (const struct provider *const *p = providers; *p; p++) {
		if (matches_type(l, *p, pattern, n)) {
			*ret_known = true;
			if (!left_out(l, *p))
				expand(l, *p, pattern, true);
		}
	}
	return true;
}

/* ---- types -------------------------------------------------------------- */

/* "struct NAME": 7 bytes are the tag; 0: it is no type. */
static size_t tag_of(const char *pattern, enum type_tag *ret)
{
	for (int tag = TAG_STRUCT; tag <= TAG_ENUM; tag++) {
		size_t n = strlen(type_tag_words[tag]);

		*ret = (enum type_tag)tag;
		if (!strncmp(pattern, type_tag_words[tag], n) && pattern[n])
			return n;
	}
	return 0;
}

static void print_type(struct listing *l, enum type_tag tag, const char *name)
{
	struct str text = {};

	if (!l->with_args)
		fprintf(l->out, "%s%s\n", type_tag_words[tag], name);
	else if (kernel_define(l->env->types, tag, name, log_level >= 2, &text))
		fprintf(l->out, "%s\n", str_text(&text));
	str_done(&text);
}

static int list_named_types(struct listing *l, enum type_tag tag, const char *pattern)
{
	const char *const *names = types_names(l->env->types, tag, pattern), *near;

	if (*names) {
		for (; *names; names++)
			print_type(l, tag, *names);
		return 0;
	}
	log_error("the kernel has no %s%s", type_tag_words[tag], pattern);
	near = strchr(pattern, '*') ? NULL : types_nearest(l->env->types, tag, pattern);
	if (!target_has_btf(l->env->target))
		log_hint("it was built without type information (CONFIG_DEBUG_INFO_BTF)");
	else if (near)
		log_hint("did you mean %s?", near);
	return 1;
}

int list_probes(struct resolve_env *env, const char *pattern, bool with_args, FILE *out)
{
	struct listing l = {.env = env, .with_args = with_args, .out = out};
	const char *colon = strchr(pattern, ':');
	bool known = false;
	enum type_tag tag;

	env->names_only = !with_args;
	if (tag_of(pattern, &tag))
		return list_named_types(&l, tag, pattern + tag_of(pattern, &tag));
	if (colon && !list_types(&l, pattern, colon - pattern, &known))
		return 1;
	if (!known)
		search(&l, pattern);
	if (!l.found)
		log_error("no probe matches %s", pattern);
	return !l.found;
}

/* A function's several returns are one probe. */
static bool is_same(const struct place *a, const struct place *b)
{
	return a && a->at_return && b->at_return && !strcmp(a->name, b->name);
}

void list_script(struct arena *a, const struct script *s, bool with_args, FILE *out)
{
	for (const struct probe *p = s->probes; p; p = p->next)
		for (const struct attach_point *ap = p->points; ap; ap = ap->next) {
			const struct place *before = NULL;

			if (ap->provider->run != RUN_ATTACHED)
				continue;
			for (const struct place *at = ap->places; at; before = at, at = at->next)
				if (!is_same(before, at))
					print_one(a, at, with_args, out);
		}
}
