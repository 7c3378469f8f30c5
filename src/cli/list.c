// SPDX-License-Identifier: Apache-2.0
/* list.c - -l. A pattern that names a provider is expanded like an attach point, so it lists the probes
 * that can be attached. */
#include "list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/attach_point.h"
#include "model/provider.h"
#include "model/request.h"
#include "model/type.h"
#include "parser/ast.h"
#include "target/target.h"
#include "types/kernel.h"

struct listing {
	struct request *req;
	bool with_args;
	FILE *out;
	unsigned found;
	const struct provider *provider; /* the provider that a search reads */
	const char *why; /* why the last skipped type was skipped */
};

/* TYPE is a pattern. Only types with a finite list match. */
static bool matches_type(struct listing *l, const struct provider *p, const char *pattern, size_t n)
{
	const char *rest = pattern + n + 1;

	return (p->finite || p->names || (p->file && *rest != '*' && strchr(rest, ':'))) &&
	       glob_match(arena_strndup(l->req->arena, pattern, n), p->name);
}

static bool is_wanted(const struct listing *l, const char *pattern, const char *name)
{
	return (!pattern || glob_match(pattern, name)) && (!l->req->hooks.wanted || l->req->hooks.wanted(l->req, name));
}

/* The names are those of files and functions, which others chose. */
static void print_name(const char *indent, const char *name, FILE *out)
{
	fputs(indent, out);
	str_put_safe(name, out);
	putc('\n', out);
}

static void print_one(struct arena *a, const struct place *p, bool with_args, FILE *out)
{
	print_name("", p->name, out);
	if (!with_args)
		return;
	for (const struct field *f = p->fields; f; f = f->next)
		print_name("    ", f->decl ? f->decl : arena_printf(a, "%s %s", type_name(a, f->type), f->name), out);
	if (p->ret_decl)
		print_name("    ", p->ret_decl, out);
}

static int place_cmp(const void *va, const void *vb)
{
	const struct place *const *a = va, *const *b = vb;

	return strcmp((*a)->name, (*b)->name);
}

/* Prints the places in the order of their names, or only those that match the pattern, if it is not NULL.
 * Places with the same name are one probe. */
static void print_places(struct listing *l, const struct place *first, const char *pattern)
{
	VEC(const struct place *) list = {};

	for (const struct place *p = first; p; p = p->next)
		if (is_wanted(l, pattern, p->name))
			vec_push(&list, p);
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), place_cmp);
	for (size_t i = 0; i < list.len; i++) {
		if (i && !strcmp(list.data[i]->name, list.data[i - 1]->name))
			continue;
		print_one(l->req->arena, list.data[i], l->with_args, l->out);
		l->found++;
	}
	vec_done(&list);
}

/* Splits a pattern at ':', except in quotes, as in a script. */
static unsigned split(struct arena *a, const char *pattern, const char **words,
	struct span *spans)
{
	unsigned n = 0;
	const char *p = pattern;

	while (n < 8) {
		struct str word = {};
		bool inside = false;
		const char *start = p;

		for (; *p && (inside || *p != ':'); p++)
			if (*p == '"')
				inside = !inside;
			else
				str_addc(&word, inside && *p == '\\' && p[1] ? *++p : *p);
		spans[n] = (struct span){start - pattern, p - pattern};
		words[n++] = arena_strdup(a, str_text(&word));
		str_done(&word);
		if (!*p)
			break;
		p++;
	}
	return n;
}

/* Expands the pattern like a probe's attach point. */
bool list_places(struct request *req, const struct provider *p, const char *pattern, bool quiet,
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
		.nwords = split(req->arena, pattern, words, spans),
		.provider = p,
	};
	bool ok;

	words[0] = p->name;
	req->diags = diags_new(req->arena, &src);
	ok = p->expand(req, &ap);
	if (!ok && !quiet)
		diags_print(req->diags, stderr, false);
	*ret = ok ? ap.places : NULL;
	return ok;
}

static bool expand(struct listing *l, const struct provider *p, const char *pattern, bool quiet)
{
	const struct place *at;
	bool ok = list_places(l->req, p, pattern, quiet, &at);

	print_places(l, at, NULL);
	return ok;
}

/* Reports once for all types that lack the same feature. */
static bool left_out(struct listing *l, const struct provider *p)
{
	const char *why = p->lacks ? p->lacks(l->req->target) : NULL;

	if (why && (!l->why || strcmp(why, l->why)))
		log_warn("%s is left out: %s", p->name, why);
	l->why = why ? why : l->why;
	return why;
}

static void found_name(const char *name, void *arg)
{
	struct listing *l = arg;

	if (!is_wanted(l, NULL, name))
		return;
	if (l->with_args && l->provider->has_fields) {
		expand(l, l->provider, name, false);
		return;
	}
	print_name("", name, l->out);
	l->found++;
}

/* Lists all names of a type with few names: interval, software.. */
static void list_names(struct listing *l, const struct provider *p, const char *pattern)
{
	for (const char *const *name = p->names; name && *name; name++) {
		const char *full = arena_printf(l->req->arena, "%s:%s", p->name, *name);

		if (!is_wanted(l, pattern, full))
			continue;
		fprintf(l->out, "%s\n", full);
		l->found++;
	}
}

/* Lists the probes that a type can list itself; for programs and libraries, only those of the process of
 * -p. */
static void search_type(struct listing *l, const struct provider *p, const char *pattern)
{
	const struct place *at;

	l->provider = p;
	list_names(l, p, pattern);
	if (p->list && !left_out(l, p))
		p->list(l->req, pattern, found_name, l);
	if (p->file && p->has_args && l->req->cmd.pid &&
		list_places(l->req, p, arena_printf(l->req->arena, "%s:*:*", p->name), true, &at))
		print_places(l, at, pattern);
}

static void search_as(struct listing *l, const char *pattern)
{
	for (const struct provider *const *p = providers; *p; p++)
		search_type(l, *p, pattern);
}

/* A text matches anywhere in a name; a pattern with wildcards from the beginning of the name or of a word. */
static void search(struct listing *l, const char *pattern)
{
	bool wild = strchr(pattern, '*');

	search_as(l, wild ? pattern : arena_printf(l->req->arena, "*%s*", pattern));
	if (wild && !l->found)
		search_as(l, arena_printf(l->req->arena, "*:%s", pattern));
}

/* A type that the user names is listed even if this kernel does not support it, for scripts that will run
 * elsewhere. */
static bool list_named(struct listing *l, const struct provider *p, const char *pattern)
{
	const char *why = p->lacks ? p->lacks(l->req->target) : NULL;
	const char *rest = strchr(pattern, ':');
	unsigned before = l->found;

	if (why)
		log_warn("nothing of this can be attached here: %s", why);
	list_names(l, p, arena_printf(l->req->arena, "%s%s", p->name, rest));
	return l->found > before || expand(l, p, pattern, false);
}

/* Lists TYPE:... Returns false if there is no such type, or if the rest does not have its form. */
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
			if ((*p)->list || (*p)->names)
				search_type(l, *p, pattern);
			else if (!left_out(l, *p))
				expand(l, *p, pattern, true);
		}
	}
	return true;
}

/* ---- types -------------------------------------------------------------- */

/* Returns the length of the tag: 7 for "struct NAME", 0 if it is not a type. */
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
	else if (kernel_define(l->req->types, tag, name, log_level >= 2, &text))
		fprintf(l->out, "%s\n", str_text(&text));
	str_done(&text);
}

static int list_named_types(struct listing *l, enum type_tag tag, const char *pattern)
{
	const char *const *names = types_names(l->req->types, tag, pattern), *near;

	if (*names) {
		for (; *names; names++)
			print_type(l, tag, *names);
		return 0;
	}
	log_error("the kernel has no %s%s", type_tag_words[tag], pattern);
	near = strchr(pattern, '*') ? NULL : types_nearest(l->req->types, tag, pattern);
	if (!target_has_btf(l->req->target))
		log_hint("it was built without type information (CONFIG_DEBUG_INFO_BTF)");
	else if (near)
		log_hint("did you mean %s?", near);
	return 1;
}

/* Reports a pattern whose file does not exist: uprobe:/nosuch/x:*. */
/* Names the probe type that was meant. */
static void hint_type(const char *pattern)
{
	const char *names[64], *near;
	char type[32];
	size_t n = 0;

	snprintf(type, sizeof(type), "%.*s", (int)strcspn(pattern, ":"), pattern);
	if (strchr(type, '*'))
		return;
	for (const struct provider *const *p = providers; *p && n < sizeof(names) / sizeof(names[0]); p++) {
		names[n++] = (*p)->name;
		if (!strcmp((*p)->name, type))
			return;
	}
	near = nearest(type, names, n);
	if (near)
		log_hint("did you mean %s%s?", near, pattern + strlen(type));
}

static void no_match(struct listing *l, const char *pattern, const char *colon)
{
	size_t n = colon ? strcspn(colon + 1, ":") : 0;
	const char *file = colon ? arena_strndup(l->req->arena, colon + 1, n) : "";

	log_error("no probe matches %s", pattern);
	hint_type(pattern);
	if (*file != '/' && *file != '.')
		return;
	if (access(target_path(l->req->target, file), F_OK))
		log_hint("there is no file %s", file);
	else if (!target_is_elf(l->req->target, file))
		log_hint("%s exists, but is not a program or library (an ELF file)", file);
}

static int list_pattern(struct listing *l, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	unsigned before = l->found;
	bool known = false;
	enum type_tag tag;

	if (tag_of(pattern, &tag))
		return list_named_types(l, tag, pattern + tag_of(pattern, &tag));
	if (colon && !list_types(l, pattern, colon - pattern, &known))
		return 1;
	if (!known)
		search(l, pattern);
	if (l->found == before)
		no_match(l, pattern, colon);
	return l->found == before;
}

/* Returns the length of the first of several patterns, which are separated by commas outside of quotes. */
static size_t pattern_len(const char *patterns)
{
	bool inside = false;
	size_t n = 0;

	for (; patterns[n] && (inside || patterns[n] != ','); n++)
		if (patterns[n] == '"')
			inside = !inside;
	return n;
}

int list_probes(struct request *req, const char *patterns, bool with_args, FILE *out)
{
	struct listing l = {.req = req, .with_args = with_args, .out = out};
	int code = 0;

	req->names_only = !with_args;
	for (;;) {
		size_t n = pattern_len(patterns);

		code |= list_pattern(&l, arena_strndup(req->arena, patterns, n));
		if (!patterns[n])
			return code;
		patterns += n + 1;
		patterns += strspn(patterns, " ");
	}
}

/* Returns whether they are one probe: several returns of a function, or several places of a USDT probe. */
static bool is_same(const struct place *a, const struct place *b)
{
	return a && !strcmp(a->name, b->name);
}

void list_script(struct arena *a, const struct script *s, bool with_args, FILE *out)
{
	for (const struct probe *p = s->probes; p; p = p->next)
		for (const struct attach_point *ap = p->points; ap; ap = ap->next) {
			const struct place *before = NULL;

			if (ap->provider->run != RUN_ATTACHED && ap->provider->run != RUN_TEST &&
				ap->provider->run != RUN_BENCH)
				continue;
			for (const struct place *at = ap->places; at; before = at, at = at->next)
				if (!is_same(before, at))
					print_one(a, at, with_args, out);
		}
}
