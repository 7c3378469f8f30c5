// SPDX-License-Identifier: Apache-2.0
/* places.c - expands the attach points of a compiled image on the machine where it runs.
 *
 * The code may have numbers of the places of the build, as values of `probe`, so these keep their numbers. A program
 * that serves a pattern gets new places after them, which it learns by attach cookies. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "model/attach_point.h"
#include "priv.h"

struct places {
	const struct request *req;
	struct image *img;
	uint32_t *names, *funcs; /* hash tables with open addressing: index of a place + 1, or 0 */
	uint32_t slots, cap;     /* of the tables; of img->places */
};

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static const char *text_of(const struct place *p, bool func)
{
	const char *text = func ? p->func : p->name;

	return text ? text : "";
}

/* Returns the first place with the name, or with the function, of place i. */
static uint32_t first_with(const struct places *s, uint32_t *table, bool func, uint32_t i)
{
	const char *text = text_of(s->img->places[i].place, func);

	for (uint32_t at = hash_of(text);; at++) {
		uint32_t *slot = &table[at & (s->slots - 1)];

		if (!*slot)
			*slot = i + 1;
		if (!strcmp(text_of(s->img->places[*slot - 1].place, func), text))
			return *slot - 1;
	}
}

/* ---- attach points ------------------------------------------------------ */

static bool expand_point(const struct request *req, const struct fact_point *p, struct attach_point *ret)
{
	struct request here = *req;

	here.wants_args = p->args;
	here.wants_retval = p->retval;
	*ret = (struct attach_point){
		.span = p->span, .text = p->text, .words = p->words, .word_spans = p->word_spans, .nwords = p->nwords,
		.provider = p->provider,
	};
	if (!p->provider->expand(&here, ret) || diags_failed(req->diags))
		return false;
	if (ret->provider != p->provider) { /* kprobes stand in for fentry */
		diag(req->diags, p->span, DIAG_CONTEXT, "this kernel has no BPF trampolines, for which this was built");
		return false;
	}
	ret->data = ret->places;
	return true;
}

static bool wanted(const struct request *req, const struct place *p)
{
	return !req->hooks.wanted || req->hooks.wanted(req, p->name);
}

/* ---- what the code assumes about a place --------------------------------- */

static const struct field *field_named(const struct place *p, const char *name)
{
	const struct field *f = p->fields;

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	return f;
}

static bool same_field(const struct fact_field *was, const struct field *f)
{
	return f && f->where == was->where && f->offset == was->offset && f->offset2 == was->offset2 &&
		f->scale == was->scale && f->size == was->size && f->value == was->value;
}

static bool differs(const struct places *s, const struct fact_point *p, const struct place *here, const char *name)
{
	diag(s->req->diags, p->span, DIAG_CONTEXT, "%s: %s is not where it was when this program was built", here->name,
		name);
	diag_hint(s->req->diags, "build it on a machine like this one");
	return false;
}

/* first: the place of the build for which the code was made. */
static bool fits(const struct places *s, const struct fact_point *p, uint32_t first, const struct place *here)
{
	const struct facts *f = s->img->facts;
	const struct place *was = s->img->places[first].place;

	if (here->abi != was->abi || here->skip != was->skip)
		return differs(s, p, here, "the probed instruction");
	for (unsigned i = 0; i < f->nfields; i++)
		if (f->fields[i].place == first && !same_field(&f->fields[i], field_named(here, f->fields[i].name)))
			return differs(s, p, here, f->fields[i].name);
	return true;
}

/* ---- programs ----------------------------------------------------------- */

static uint32_t add_place(struct places *s, const struct place *p)
{
	struct image *img = s->img;
	uint32_t i = img->nplaces++;

	img->places[i].place = p;
	img->places[i].name = first_with(s, s->names, false, i);
	img->places[i].func = first_with(s, s->funcs, true, i);
	return i;
}

/* The program serves all places of the point. */
static bool place_open(struct places *s, struct image_prog *prog, const struct attach_point *ap)
{
	const struct fact_point *p = &s->img->facts->points[prog->point];
	uint32_t first = prog->first_place;

	prog->first_place = s->img->nplaces;
	prog->nplaces = 0;
	for (const struct place *here = ap->places; here; here = here->next) {
		if (!wanted(s->req, here))
			continue;
		if (!fits(s, p, first, here))
			return false;
		add_place(s, here);
		prog->nplaces++;
	}
	return true;
}

/* The program serves the places of the build. The programs of a point come in the order of its places: ap->data is
 * the next one. */
static bool place_fixed(struct places *s, struct image_prog *prog, struct attach_point *ap)
{
	const struct fact_point *p = &s->img->facts->points[prog->point];
	const struct place *here = ap->data;

	for (uint32_t i = 0; i < prog->nplaces; i++, here = here->next) {
		struct image_place *was = &s->img->places[prog->first_place + i];

		if (!here || strcmp(here->name, was->place->name) != 0) {
			diag(s->req->diags, p->span, DIAG_NO_PLACE, "%s does not exist here", was->place->name);
			return false;
		}
		if (!fits(s, p, prog->first_place, here))
			return false;
		was->place = here;
	}
	ap->data = (void *)here;
	return true;
}

static bool place_programs(struct places *s, struct attach_point *points)
{
	struct image *img = s->img;
	unsigned n = 0;

	for (unsigned i = 0; i < img->nprogs; i++) {
		struct image_prog *p = &img->progs[i];
		struct attach_point *ap = &points[p->point];
		bool open = img->facts->points[p->point].is_open;

		if (ap->places && !(open ? place_open(s, p, ap) : place_fixed(s, p, ap)))
			return false;
		if (ap->places && p->nplaces) /* else it matches nothing, and missing_probes allows that */
			img->progs[n++] = *p;
	}
	img->nprogs = n;
	return true;
}

static bool has_program(const struct image *img, unsigned point)
{
	unsigned i = 0;

	while (i < img->nprogs && img->progs[i].point != point)
		i++;
	return i < img->nprogs;
}

/* Tests and benchmarks run only with options that built programs lack. */
static bool is_trial(const struct attach_point *ap)
{
	return ap->provider && (ap->provider->run == RUN_TEST || ap->provider->run == RUN_BENCH);
}

/* A point that matched nothing where the image was made has no program. */
static void check_left_out(struct places *s, const struct attach_point *points)
{
	const struct facts *f = s->img->facts;

	for (unsigned i = 0; i < f->npoints; i++)
		if (points[i].places && !is_trial(&points[i]) && !has_program(s->img, i))
			diag_warn(s->req->diags, f->points[i].span, DIAG_NO_PLACE,
				"%s matched nothing when this was built: there is no code for it", f->points[i].text);
}

/* The code of a probe counts strata's own events only if all its places have events of other tasks, too. */
static bool check_own_events(struct places *s, const struct attach_point *points)
{
	const struct facts *f = s->img->facts;

	for (unsigned from = 0, to; from < f->npoints; from = to) {
		bool of_others = true, any = false;

		for (to = from; to < f->npoints && (to == from || f->points[to].more); to++)
			for (const struct place *p = points[to].places; p && has_program(s->img, to); p = p->next) {
				of_others &= p->of_others || !wanted(s->req, p);
				any = true;
			}
		if (!any || of_others == f->points[from].of_others)
			continue;
		diag(s->req->diags, f->points[from].span, DIAG_CONTEXT,
			"%s matches other kinds of events than when this was built", f->points[from].text);
		diag_hint(s->req->diags, "build it on a machine like this one");
		return false;
	}
	return true;
}

/* A fixed point has programs for the places of the build only. Their programs have taken the first places of the
 * machine; ap->data is the next one. */
static void check_unserved(struct places *s, const struct attach_point *points)
{
	const struct facts *f = s->img->facts;

	for (unsigned i = 0; i < f->npoints; i++)
		if (points[i].data && points[i].data != points[i].places)
			diag_warn(s->req->diags, f->points[i].span, DIAG_NO_PLACE,
				"%s matches more probes than when this was built: there is no code for them",
				f->points[i].text);
}

/* The arrays have room for all places of this machine. */
static void make_room(struct places *s, const struct attach_point *points)
{
	struct image *img = s->img;
	struct image_place *more;

	s->cap = img->nplaces;
	for (unsigned i = 0; i < img->nprogs; i++)
		s->cap += points[img->progs[i].point].nplaces;
	for (s->slots = 64; s->slots < 2 * s->cap; s->slots *= 2)
		;
	more = arena_new_array(s->req->arena, struct image_place, s->cap + 1);
	if (img->nplaces)
		memcpy(more, img->places, sizeof(*more) * img->nplaces);
	img->places = more;
	s->names = arena_new_array(s->req->arena, uint32_t, s->slots);
	s->funcs = arena_new_array(s->req->arena, uint32_t, s->slots);
	for (uint32_t i = 0; i < img->nplaces; i++) {
		first_with(s, s->names, false, i);
		first_with(s, s->funcs, true, i);
	}
}

bool start_places(const struct request *req, struct image *img)
{
	struct places s = {.req = req, .img = img};
	struct attach_point *points = arena_new_array(req->arena, struct attach_point, img->facts->npoints + 1);

	for (unsigned i = 0; i < img->facts->npoints; i++)
		if (!expand_point(req, &img->facts->points[i], &points[i]))
			return false;
	check_left_out(&s, points);
	if (!check_own_events(&s, points))
		return false;
	make_room(&s, points);
	if (!place_programs(&s, points))
		return false;
	check_unserved(&s, points);
	return true;
}
