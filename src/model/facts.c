// SPDX-License-Identifier: Apache-2.0
/* facts.c - collects what an image takes for granted about the machine. */
#include "facts.h"

#include <string.h>

#include "base/arena.h"
#include "type.h"

/* Lists double when their length is a power of two. */
static void *grown(struct arena *a, void *list, unsigned n, size_t size)
{
	void *more;

	if (n & (n - 1) || !a)
		return list;
	more = arena_alloc(a, size * (n ? 2 * n : 1));
	if (n)
		memcpy(more, list, size * n);
	return more;
}

#define ADD(f, list, n, ...)                                                             \
	((f)->list = grown((f)->arena, (f)->list, (f)->n, sizeof(*(f)->list)), (f)->list[(f)->n++] = (__VA_ARGS__))

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

unsigned facts_hole(struct facts *f, const struct hole *h)
{
	for (unsigned i = 0; i < f->nholes; i++) {
		const struct hole *o = &f->holes[i];

		if (o->kind == h->kind && o->skip == h->skip && same_text(o->root, h->root) &&
			same_text(o->path, h->path))
			return i;
	}
	ADD(f, holes, nholes, *h);
	return f->nholes - 1;
}

/* The members of unnamed structs belong to the struct that holds them. */
static void add_parts(struct arena *a, const struct type *t, uint32_t base, struct fact_layout *l)
{
	const struct composite *c = composite_of(t);

	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];

		l->parts = grown(a, l->parts, l->nparts, sizeof(*l->parts));
		l->parts[l->nparts++] = (struct fact_part){m->name, base + m->offset, m->type->size};
		if (!*m->name && m->type->kind == TYPE_STRUCT)
			add_parts(a, m->type, base + m->offset, l);
	}
}

void fact_layout_of(struct arena *a, const struct type *t, struct fact_layout *ret)
{
	*ret = (struct fact_layout){.name = t->strct.composite->name, .size = t->size};
	add_parts(a, t, 0, ret);
}

void facts_layout(struct facts *f, const struct type *t)
{
	struct fact_layout l;

	while (f && t->kind == TYPE_ARRAY)
		t = t->array.of;
	if (!f || f->stays || t->kind != TYPE_STRUCT || composite_of(t)->origin != ORIGIN_KERNEL)
		return;
	for (unsigned i = 0; i < f->nlayouts; i++)
		if (!strcmp(f->layouts[i].name, t->strct.composite->name) && f->layouts[i].size == t->size)
			return;
	if (strchr(t->strct.composite->name, ' ')) { /* an unnamed one is a part of one with a name */
		fact_layout_of(f->arena, t, &l);
		ADD(f, layouts, nlayouts, l);
	}
	for (unsigned i = 0; i < composite_of(t)->n; i++)
		facts_layout(f, composite_of(t)->members[i].type);
}

void facts_constant(struct facts *f, const char *name, uint64_t value)
{
	for (unsigned i = 0; f && i < f->nconstants; i++)
		if (!strcmp(f->constants[i].name, name))
			return;
	if (f && !f->stays)
		ADD(f, constants, nconstants, (struct fact_constant){name, value});
}

void facts_field(struct facts *f, uint32_t place, const struct field *field)
{
	for (unsigned i = 0; f && i < f->nfields; i++)
		if (f->fields[i].place == place && !strcmp(f->fields[i].name, field->name))
			return;
	if (f)
		ADD(f, fields, nfields, (struct fact_field){
			.place = place, .name = field->name, .where = field->where, .offset = field->offset,
			.offset2 = field->offset2, .scale = field->scale, .size = field->size, .value = field->value});
}

struct fact_point *facts_point(struct facts *f)
{
	ADD(f, points, npoints, (struct fact_point){});
	return &f->points[f->npoints - 1];
}

void facts_bind(struct facts *f, struct span at, const char *why)
{
	if (!f || f->bound)
		return;
	f->bound = why;
	f->bound_at = at;
}
