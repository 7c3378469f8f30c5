// SPDX-License-Identifier: Apache-2.0
/* lines.c - each line is one image of the session. Its arena lives as long as any part of it may be needed:
 * its probes, the maps that it created, the names of its probes in maps. */
#include "lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/owner.h"
#include "base/str.h"
#include "model/provider.h"
#include "model/type.h"
#include "parser/ast.h"
#include "prompt/prompt.h"
#include "session/session.h"
#include "types/types.h"

#define EARLIER_NAME "an earlier line"

static void free_compiled(struct line *n)
{
	if (!n->compile.arena)
		return;
	types_close(n->compile.req.types);
	arena_free(n->compile.arena);
	n->compile = (struct compile){};
}

static void line_free(struct line *n)
{
	if (!n)
		return;
	free_compiled(n);
	free(n->text);
	free(n->saved);
	free(n);
}

/* ---- definitions --------------------------------------------------------- */

static void join_definitions(struct lines *l)
{
	struct str text = {};

	for (int c = 1; c >= 0; c--)
		for (size_t i = 0; i < l->definitions.len; i++)
			if (l->definitions.data[i].is_c == c)
				str_addf(&text, "%s\n", l->definitions.data[i].text);
	free(l->earlier);
	l->earlier = strdup(str_text(&text));
	l->definitions_source = (struct source){.name = EARLIER_NAME, .text = l->earlier, .len = strlen(l->earlier)};
	str_done(&text);
}

static void forget_macro(struct lines *l, const char *name, unsigned nparams)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->definitions.len; i++) {
		struct definition *d = &l->definitions.data[i];

		if (d->name && !strcmp(d->name, name) && d->nparams == nparams) {
			free(d->text);
			free((char *)d->name);
			continue;
		}
		l->definitions.data[kept++] = *d;
	}
	l->definitions.len = kept;
}

/* Returns whether it was typed in the new line. */
static bool is_new(const struct source *s, struct span at)
{
	return at.start < SOURCE_USES && strcmp(source_spot(s, at.start).name, EARLIER_NAME) != 0;
}

static char *text_of(const struct source *s, struct span at)
{
	return strndup(s->text + at.start, at.end - at.start);
}

/* A C program is imported again for each line, and compiled if the line calls it. */
static void keep_program(struct lines *l, const char *path)
{
	struct str text = {};

	if (strpbrk(path, "\"\\"))
		return;
	forget_macro(l, path, UINT_MAX);
	str_addf(&text, "import \"%s\";", path);
	vec_push(&l->definitions, (struct definition){.text = strdup(str_text(&text)), .name = strdup(path),
		.nparams = UINT_MAX});
	str_done(&text);
}

static void keep_definitions(struct lines *l, const struct compile *c)
{
	const struct script *s = c->script;
	const struct source *src = &c->source;

	for (unsigned i = 0; i < s->nc_parts; i++)
		if (is_new(src, s->c_parts[i]))
			vec_push(&l->definitions,
				(struct definition){.text = text_of(src, s->c_parts[i]), .is_c = true});
	for (unsigned i = 0; i < s->nc_programs; i++)
		keep_program(l, source_spot(src, s->c_programs[i].start).name);
	for (const struct macro *m = s->macros; m; m = m->next) {
		if (!is_new(src, m->span))
			continue;
		forget_macro(l, m->name, m->nparams);
		vec_push(&l->definitions, (struct definition){.text = text_of(src, m->span),
			.name = strdup(m->name), .nparams = m->nparams});
	}
	for (const struct map_decl *m = s->map_decls; m; m = m->next)
		if (is_new(src, m->span))
			vec_push(&l->definitions, (struct definition){.text = text_of(src, m->span)});
	join_definitions(l);
}

/* ---- a line -------------------------------------------------------------- */

static struct line *line_new(struct lines *l, const char *text)
{
	struct line *n = calloc(1, sizeof(*n));
	struct compile *c;

	if (!n)
		return NULL;
	n->text = strdup(text);
	n->number = l->last + 1;
	c = &n->compile;
	c->arena = arena_new();
	c->source = (struct source){.name = arena_printf(c->arena, "[%u]", n->number), .text = n->text,
		.len = strlen(n->text)};
	c->is_line = true;
	c->earlier = l->earlier ? &l->definitions_source : NULL;
	l->symbols = (struct symbols){l->images.data, l->images.len};
	l->opt->prepare(l->opt->arg, c);
	c->req.types = types_new(c->arena, l->opt->target);
	c->req.symbols = &l->symbols;
	c->codegen.image = session_next(l->session);
	c->codegen.grows = session_next_grows(l->session);
	c->codegen.has_walker = session_has_walker(l->session);
	c->codegen.takes = false;
	return n;
}

static bool brings_maps(const struct lines *l, const struct image *img)
{
	bool brings = false;

	for (unsigned i = 0; i < img->nmaps; i++)
		brings |= !symbols_map(&l->symbols, img->maps[i].name);
	return brings;
}

/* Returns whether maps may contain names of its probes. */
static bool leaves_names(const struct image *img)
{
	bool leaves = false;

	for (unsigned i = 0; i < img->nmaps; i++)
		leaves |= type_has(img->maps[i].key, TYPE_PLACE) || type_has(img->maps[i].value, TYPE_PLACE);
	return leaves;
}

static bool has_probes(const struct image *img)
{
	bool has = false;

	for (unsigned i = 0; i < img->nprogs; i++)
		has |= img->progs[i].provider->run != RUN_BEGIN;
	return has;
}

/* Keeps only the probes: definitions are saved separately, and a question such as `@x` is not saved. */
static void set_saved(struct line *n)
{
	const struct script *s = n->compile.script;
	const struct stmt *first = s->probes ? s->probes->body->stmts : NULL;
	struct str text = {};

	if (s->is_statements && first && (first->next || !first->asked))
		str_addf(&text, "begin { %s }\n", n->text);
	for (const struct probe *p = s->is_statements ? NULL : s->probes; p; p = p->next) {
		_cleanup_(freep) char *probe = text_of(&n->compile.source, p->span);

		if (is_new(&n->compile.source, p->span))
			str_addf(&text, "%s\n", probe);
	}
	n->saved = text.len ? strdup(str_text(&text)) : NULL;
	str_done(&text);
}

/* Frees everything to which neither the kernel's maps nor running programs refer. */
static void release(struct lines *l, struct line *n)
{
	const struct image *img = n->compile.image;

	if (n->runs || n->brings_maps || (img && leaves_names(img)))
		return;
	if (img)
		session_forget(l->session, img->number);
	free_compiled(n);
}

static bool run(struct lines *l, struct line *n)
{
	struct image *img = n->compile.image;

	if (!img || !img->nprogs)
		return true;
	n->brings_maps = brings_maps(l, img);
	if (session_add(l->session, img)) {
		session_forget(l->session, img->number);
		return false;
	}
	if (n->brings_maps)
		vec_push(&l->images, img);
	n->runs = true;
	for (unsigned i = 0; i < img->nprogs; i++)
		if (img->progs[i].provider->run == RUN_ATTACHED)
			n->probes += img->progs[i].nplaces;
	return true;
}

bool lines_begin(struct lines *l)
{
	const struct line *n = lines_add(l, "begin { }");

	if (!n)
		return false;
	line_free(l->all.data[n->number]);
	l->all.len = l->last = 0;
	return true;
}

const struct line *lines_add(struct lines *l, const char *text)
{
	struct line *n = line_new(l, text);

	if (!n)
		return NULL;
	if (!compile(&n->compile) || !run(l, n)) {
		line_free(n);
		return NULL;
	}
	set_saved(n);
	keep_definitions(l, &n->compile);
	l->last = n->number;
	while (l->all.len < n->number)
		vec_push(&l->all, (struct line *)NULL);
	vec_push(&l->all, n);
	if (n->runs && !has_probes(n->compile.image)) {
		session_drop(l->session, n->compile.image->number);
		n->runs = false;
	}
	release(l, n);
	return n;
}

static struct line *find(const struct lines *l, unsigned number)
{
	return number < l->all.len ? l->all.data[number] : NULL;
}

bool lines_drop(struct lines *l, unsigned number)
{
	struct line *n = find(l, number);

	if (!n || !n->runs)
		return false;
	session_drop(l->session, n->compile.image->number);
	n->runs = false;
	free(n->saved);
	n->saved = NULL;
	release(l, n);
	return true;
}

unsigned lines_drop_exited(struct lines *l)
{
	uint32_t image;

	if (!session_exited(l->session, &image))
		return 0;
	for (size_t i = 0; i < l->all.len; i++) {
		struct line *n = l->all.data[i];

		if (n && n->runs && n->compile.image->number == image) {
			lines_drop(l, n->number);
			return n->number;
		}
	}
	return 0;
}

const struct image_map *lines_map(const struct lines *l, const char *name)
{
	struct symbols all = {l->images.data, l->images.len};

	return symbols_map(&all, name);
}

/* ---- saving -------------------------------------------------------------- */

void lines_save(const struct lines *l, FILE *out)
{
	fputs("#!/usr/bin/env strata\n", out);
	for (int c = 1; c >= 0; c--)
		for (size_t i = 0; i < l->definitions.len; i++)
			if (l->definitions.data[i].is_c == c)
				fprintf(out, "%s\n", l->definitions.data[i].text);
	for (size_t i = 0; i < l->all.len; i++)
		if (l->all.data[i] && l->all.data[i]->saved)
			fputs(l->all.data[i]->saved, out);
}

void lines_done(struct lines *l)
{
	for (size_t i = 0; i < l->all.len; i++)
		line_free(l->all.data[i]);
	for (size_t i = 0; i < l->definitions.len; i++) {
		free(l->definitions.data[i].text);
		free((char *)l->definitions.data[i].name);
	}
	vec_done(&l->all);
	vec_done(&l->images);
	vec_done(&l->definitions);
	free(l->earlier);
}
