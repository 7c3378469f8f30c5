// SPDX-License-Identifier: Apache-2.0
/* list.c - -l. A pattern that names a provider is expanded as a probe would be; so
 * what is listed is what can be attached. */
#include "list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "parser/ast.h"
#include "parser/provider.h"
#include "parser/type.h"

struct listing {
	struct resolve_env *env;
	bool with_args;
	FILE *out;
	unsigned found;
};

static bool is_called(const char *own, const char *name, size_t n)
{
	return own && !strncasecmp(own, name, n) && !own[n];
}

static const struct provider *find_provider(const char *name, size_t n)
{
	for (const struct provider *const *p = providers; *p; p++)
		if (is_called((*p)->name, name, n) || is_called((*p)->short_name, name, n) ||
			is_called((*p)->alias, name, n))
			return *p;
	return NULL;
}

static void print_one(struct arena *a, const struct place *p, bool with_args, FILE *out)
{
	fprintf(out, "%s\n", p->name);
	for (const struct field *f = with_args ? p->fields : NULL; f; f = f->next)
		fprintf(out, "    %s %s\n", type_name(a, f->type), f->name);
}

static void print_place(struct listing *l, const struct place *p)
{
	print_one(l->env->arena, p, l->with_args, l->out);
	l->found++;
}

static unsigned split(struct arena *a, const char *pattern, const char **parts,
	struct span *spans)
{
	unsigned n = 0;
	const char *p = pattern;

	while (n < 8) {
		const char *colon = strchr(p, ':');
		size_t len = colon ? (size_t)(colon - p) : strlen(p);

		spans[n] = (struct span){p - pattern, p - pattern + len};
		parts[n++] = arena_strndup(a, p, len);
		if (!colon)
			break;
		p = colon + 1;
	}
	return n;
}

/* As a probe's attach point. */
static bool expand(struct listing *l, const struct provider *p, const char *pattern)
{
	struct source src = {.name = "-l", .text = pattern, .len = strlen(pattern)};
	const char *parts[8];
	struct span spans[8];
	struct attach_point ap = {
		.span = {0, src.len},
		.text = pattern,
		.parts = parts,
		.part_spans = spans,
		.nparts = split(l->env->arena, pattern, parts, spans),
		.provider = p,
	};
	bool ok;

	parts[0] = p->name;
	l->env->diags = diags_new(l->env->arena, &src);
	ok = p->expand(l->env, &ap);
	if (!ok)
		diags_print(l->env->diags, stderr, false);
	for (const struct place *at = ap.places; at; at = at->next)
		print_place(l, at);
	return ok;
}

static void found_name(const char *name, void *arg)
{
	struct listing *l = arg;

	if (!l->with_args) {
		fprintf(l->out, "%s\n", name);
		l->found++;
		return;
	}
	expand(l, find_provider(name, strchr(name, ':') - name), name);
}

static void search(struct listing *l, const char *pattern)
{
	const char *anywhere = strchr(pattern, '*') ? pattern :
		arena_printf(l->env->arena, "*%s*", pattern);

	for (const struct provider *const *p = providers; *p; p++)
		if ((*p)->list)
			(*p)->list(l->env, anywhere, found_name, l);
}

int list_probes(struct resolve_env *env, const char *pattern, bool with_args, FILE *out)
{
	struct listing l = {.env = env, .with_args = with_args, .out = out};
	const char *colon = strchr(pattern, ':');
	const struct provider *p = colon ? find_provider(pattern, colon - pattern) : NULL;

	if (p) {
		if (!expand(&l, p, pattern))
			return 1;
	} else {
		search(&l, pattern);
	}
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
