// SPDX-License-Identifier: Apache-2.0
/* flame.c - see flame.h. */
#include "flame.h"

#include <stdio.h>
#include <string.h>

#include "output.h"

struct recorded_map *flame_before(const struct picture *p, const struct recorded_map *m)
{
	for (size_t i = p->before ? p->before->maps.len : 0; i-- > 0;)
		if (!strcmp(p->before->maps.data[i]->name, m->name))
			return p->before->maps.data[i];
	return NULL;
}

struct maps {
	struct recorded_map *const *list, *const *before;
	size_t n, nbefore;
};

static struct profile *make_profile(const struct picture *p, const struct maps *maps, bool by_line)
{
	struct profile *to = profile_new(by_line, GRAPH_NARROWEST);
	char top[160];

	for (size_t i = 0; i < maps->n + maps->nbefore; i++) {
		bool before = i >= maps->n;
		const struct recorded_map *m = before ? maps->before[i - maps->n] : maps->list[i];

		snprintf(top, sizeof(top), "@%s", m->name);
		(before ? profile_add_before : profile_add)(to, before ? p->before : p->recording, m,
			maps->n > 1 || *m->name ? top : NULL, !p->labels);
	}
	return to;
}

static bool wants_lines(const struct picture *p, const struct maps *maps)
{
	bool wanted = p->lines;

	for (size_t i = 0; i < maps->n; i++)
		for (unsigned k = 0; k < maps->list[i]->ncolumns; k++)
			wanted |= maps->list[i]->columns[k].is_stack && maps->list[i]->columns[k].mode == STACK_LINE;
	return wanted;
}

/* Omits lines if the functions without lines already fill a graph. */
static void use_lines(const struct picture *p, const struct maps *maps, struct flame *f)
{
	if (f->drawn.compares ? !wants_lines(p, maps) : !profile_has_lines(f->functions))
		return;
	f->lines = make_profile(p, maps, true);
	f->data.profile = f->lines;
	f->data.root = profile_root(f->lines);
	f->data.lines = wants_lines(p, maps) ? 2 : 1;
	if (f->drawn.compares)
		f->drawn = f->data;
	else if (f->data.lines == 1 && graph_is_large(f->data.root))
		f->data = f->drawn;
}

static void set_title(const struct maps *maps, struct flame *f)
{
	size_t n = 0;

	f->title[0] = 0;
	for (size_t i = 0; i < maps->n && n < sizeof(f->title) - 1; i++)
		if (!i || strcmp(maps->list[i]->name, maps->list[i - 1]->name) != 0)
			n += (size_t)snprintf(f->title + n, sizeof(f->title) - n, "%s@%s", i ? ", " : "",
				maps->list[i]->name);
}

static void make(const struct picture *p, const struct maps *maps, struct flame *f)
{
	*f = (struct flame){.functions = make_profile(p, maps, false)};
	f->drawn = (struct graph){
		.profile = f->functions,
		.root = profile_root(f->functions),
		.unit = maps->list[0]->unit,
		.about = p->recording->about,
		.compares = maps->nbefore,
	};
	for (size_t i = 1; i < maps->n; i++)
		if (strcmp(maps->list[i]->unit, f->drawn.unit) != 0)
			f->drawn.unit = "";
	f->data = f->drawn;
	use_lines(p, maps, f);
	graph_init(&f->drawn);
	graph_init(&f->data);
	set_title(maps, f);
}

void flame_of_all(const struct picture *p, struct flame *ret)
{
	const struct recording *r = p->recording, *b = p->before;

	make(p, &(struct maps){r->maps.data, b ? b->maps.data : NULL, r->maps.len, b ? b->maps.len : 0}, ret);
}

void flame_of_map(const struct picture *p, struct recorded_map *m, struct recorded_map *before,
	struct flame *ret)
{
	make(p, &(struct maps){&m, &before, 1, before != NULL}, ret);
}

void flame_done(struct flame *f)
{
	graph_done(&f->drawn);
	graph_done(&f->data);
	profile_free(f->functions);
	profile_free(f->lines);
}
