// SPDX-License-Identifier: Apache-2.0
/* code_image.c - an image and its facts as bytes. */
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "codec.h"
#include "model/attach_point.h"
#include "model/facts.h"
#include "model/image.h"
#include "model/type.h"

/* ---- the script --------------------------------------------------------- */

static void code_file(struct codec *c, struct source_file *f, size_t len)
{
	code_text(c, &f->name);
	code_text(c, &f->real);
	code_int(c, &f->start);
	code_int(c, &f->len);
	c->bad |= !f->name || f->start > len || f->len > len - f->start || !f->start;
}

static void code_use(struct codec *c, struct source_use *u, uint32_t after)
{
	code_int(c, &u->start);
	code_int(c, &u->len);
	code_int(c, &u->body);
	code_span(c, &u->from);
	/* Positions in it lead to earlier text. */
	c->bad |= u->start < after || u->from.start >= u->start || u->len > UINT32_MAX - u->start;
}

static void code_source(struct codec *c, const struct source **source)
{
	struct source *s = arena_new_obj(c->arena, struct source);
	const void *text;
	uint32_t after = SOURCE_USES;

	if (c->out)
		*s = **source;
	text = s->text;
	code_text(c, &s->name);
	code_text(c, &s->real);
	code_blob(c, &text, &s->len);
	s->text = text;
	c->bad |= !s->name || s->len >= SOURCE_USES;
	s->files = code_list(c, s->files, &s->nfiles, sizeof(*s->files));
	for (unsigned i = 0; i < s->nfiles; i++)
		code_file(c, &s->files[i], s->len);
	s->uses = code_list(c, s->uses, &s->nuses, sizeof(*s->uses));
	for (unsigned i = 0; i < s->nuses; i++) {
		code_use(c, &s->uses[i], after);
		after = s->uses[i].start + s->uses[i].len;
	}
	*source = s;
}

/* ---- programs and places ------------------------------------------------ */

/* The arguments of the probe are left out: only the compiler needs them. */
static void code_place(struct codec *c, const struct place **place)
{
	struct place *p = arena_new_obj(c->arena, struct place);

	if (c->out)
		*p = **place;
	p->next = NULL;
	p->fields = NULL;
	p->ret_decl = NULL;
	code_text(c, &p->name);
	code_text(c, &p->func);
	code_text(c, &p->path);
	code_int(c, &p->offset);
	code_int(c, &p->ref_ctr);
	code_int(c, &p->period);
	code_int(c, &p->config);
	code_bool(c, &p->freq);
	code_bool(c, &p->alone);
	code_bool(c, &p->by_address);
	code_enum(c, &p->abi, ABI_GO_EITHER + 1);
	code_bool(c, &p->of_others);
	code_int(c, &p->skip);
	code_bool(c, &p->at_return);
	code_type(c, &p->ret);
	c->bad |= !p->name;
	*place = p;
}

static void code_prog(struct codec *c, struct image_prog *p, const struct image *img)
{
	code_text(c, &p->name);
	code_text(c, &p->section);
	code_provider(c, &p->provider);
	code_int(c, &p->first_place);
	code_int(c, &p->nplaces);
	code_bool(c, &p->sleeps);
	code_bool(c, &p->walks);
	code_bool(c, &p->overrides);
	code_int(c, &p->point);
	code_span(c, &p->span);
	c->bad |= !p->name || !p->section || !p->nplaces || p->first_place > img->nplaces ||
		p->nplaces > img->nplaces - p->first_place || p->point >= img->facts->npoints ||
		(p->provider && p->provider != img->facts->points[p->point].provider);
}

static void code_progs(struct codec *c, struct image *img)
{
	img->places = code_list(c, img->places, &img->nplaces, sizeof(*img->places));
	c->bad |= img->nplaces >= IMAGE_PLACES_MAX;
	for (unsigned i = 0; i < img->nplaces; i++) {
		const struct place *place = img->places[i].place;

		code_place(c, &place);
		code_int(c, &img->places[i].name);
		code_int(c, &img->places[i].func);
		c->bad |= img->places[i].name > i || img->places[i].func > i;
		if (!c->out)
			img->places[i].place = place;
	}
	img->progs = code_list(c, img->progs, &img->nprogs, sizeof(*img->progs));
	for (unsigned i = 0; i < img->nprogs; i++)
		code_prog(c, &img->progs[i], img);
}

/* ---- maps and records --------------------------------------------------- */

static void code_map(struct codec *c, struct image_map *m)
{
	code_text(c, &m->name);
	code_text(c, &m->bpf_name);
	code_type(c, &m->key);
	code_text(c, &m->key_text);
	code_type(c, &m->value);
	code_text(c, &m->declared);
	code_int(c, &m->key_size);
	code_int(c, &m->value_size);
	code_int(c, &m->type);
	code_int(c, &m->max_entries);
	code_bool(c, &m->per_cpu);
	code_bool(c, &m->taken);
	code_bool(c, &m->sized_by_memory);
	c->bad |= !m->name || !m->bpf_name || !m->value || m->value->size > m->value_size ||
		(m->key ? m->key->size > m->key_size : m->key_size != 4 || m->value_size < m->value->size + 8);
}

static void code_gate(struct codec *c, const struct image_gate **gate, const struct image *img)
{
	bool has = c->out && *gate;
	struct image_gate *g = arena_new_obj(c->arena, struct image_gate);

	code_bool(c, &has);
	if (has && c->out)
		*g = **gate;
	if (has) {
		code_int(c, &g->n);
		code_bytes(c, g->patterns, sizeof(g->patterns));
		code_int(c, &g->undecided);
		c->bad |= g->n > sizeof(g->patterns) || g->undecided >= img->nrecords;
		for (unsigned i = 0; i < sizeof(g->patterns); i++)
			c->bad |= i < g->n && g->patterns[i] >= img->npatterns;
	}
	if (!c->out)
		*gate = has ? g : NULL;
}

static void code_arg(struct codec *c, struct image_arg *a, uint32_t size)
{
	code_type(c, &a->type);
	code_int(c, &a->offset);
	code_bool(c, &a->is_literal);
	c->bad |= !a->type || a->offset > size || a->type->size > size - a->offset;
}

/* Texts lie one after another in the record. */
static void code_texts(struct codec *c, struct image_record *r)
{
	struct image_text *texts = code_list(c, (void *)r->texts, &r->ntexts, sizeof(*texts));
	uint32_t at = 0;

	for (unsigned i = 0; i < r->ntexts; i++) {
		struct image_text t = texts[i];

		code_int(c, &t.offset);
		code_int(c, &t.size);
		c->bad |= t.offset < at || t.offset > r->size || t.size > r->size - t.offset || !t.size;
		at = t.offset + t.size;
		if (!c->out)
			texts[i] = t;
	}
	r->texts = texts;
}

/* Some kinds of records do not set the length. */
static void code_format(struct codec *c, struct image_record *r)
{
	bool has = c->out && r->text;
	const void *text = r->text;
	size_t len = has && !r->text_len ? strlen(text) : r->text_len;

	code_bool(c, &has);
	if (has)
		code_blob(c, &text, &len);
	code_int(c, &r->text_len);
	c->bad |= r->text_len > len;
	if (!c->out)
		r->text = has ? text : NULL;
}

/* hold(), keep() and drop() have a key, and an update has a map. */
static bool lacks(const struct image_record *r, const struct image *img)
{
	bool has_key = !strcmp(r->kind, "hold") || !strcmp(r->kind, "keep") || !strcmp(r->kind, "drop");

	return (has_key && !r->nargs) || (!strcmp(r->kind, "apply") && r->map >= img->nmaps);
}

static void code_record(struct codec *c, struct image_record *r, const struct image *img)
{
	struct image_arg *args;

	code_text(c, &r->kind);
	code_format(c, r);
	code_enum(c, &r->problem, PROBLEM_MAX);
	code_int(c, &r->map);
	code_int(c, &r->top);
	code_int(c, &r->div);
	code_bool(c, &r->takes);
	code_int(c, &r->size);
	args = code_list(c, (void *)r->args, &r->nargs, sizeof(*args));
	for (unsigned i = 0; i < r->nargs; i++)
		code_arg(c, &args[i], r->size);
	r->args = args;
	code_texts(c, r);
	code_span(c, &r->span);
	code_gate(c, &r->gate, img);
	code_int(c, &r->apply);
	code_int(c, &r->failed);
	c->bad |= !r->kind || (r->map && r->map >= img->nmaps) || (r->failed && r->failed >= img->nrecords) ||
		lacks(r, img);
}

static void code_patterns(struct codec *c, struct image *img)
{
	code_int(c, &img->npatterns);
	c->bad |= img->npatterns > IMAGE_PATTERNS_MAX;
	for (unsigned i = 0; i < img->npatterns && !c->bad; i++) {
		struct frame_pattern *p = arena_new_obj(c->arena, struct frame_pattern);

		if (c->out)
			*p = *img->patterns[i];
		code_text(c, &p->func);
		code_text(c, &p->module);
		code_bool(c, &p->container);
		c->bad |= !p->func;
		if (!c->out)
			img->patterns[i] = p;
	}
}

/* ---- facts -------------------------------------------------------------- */

static void code_hole(struct codec *c, struct hole *h)
{
	code_enum(c, &h->kind, HOLE_MAX);
	code_text(c, &h->root);
	code_text(c, &h->path);
	code_int(c, &h->skip);
	code_int(c, &h->size);
	code_int(c, &h->bit_offset);
	code_int(c, &h->bit_size);
	c->bad |= h->kind == HOLE_MEMBER && (!h->root || !h->path || !strchr(h->root, ' ') ||
		(h->skip && (h->skip >= strlen(h->path) || h->path[h->skip] != '.')));
}

static void code_layout(struct codec *c, struct fact_layout *l)
{
	code_text(c, &l->name);
	code_int(c, &l->size);
	l->parts = code_list(c, l->parts, &l->nparts, sizeof(*l->parts));
	c->bad |= !l->name || !strchr(l->name, ' ');
	for (unsigned i = 0; i < l->nparts; i++) {
		code_text(c, &l->parts[i].name);
		code_int(c, &l->parts[i].offset);
		code_int(c, &l->parts[i].size);
		c->bad |= !l->parts[i].name;
	}
}

static void code_field(struct codec *c, struct fact_field *f)
{
	code_int(c, &f->place);
	code_text(c, &f->name);
	code_enum(c, &f->where, FIELD_NOWHERE + 1);
	code_int(c, &f->offset);
	code_int(c, &f->offset2);
	code_int(c, &f->scale);
	code_int(c, &f->size);
	code_int(c, &f->value);
	c->bad |= !f->name;
}

static void code_point(struct codec *c, struct fact_point *p)
{
	code_text(c, &p->text);
	p->words = code_list(c, p->words, &p->nwords, sizeof(*p->words));
	if (!c->out)
		p->word_spans = arena_new_array(c->arena, struct span, p->nwords + 1);
	for (unsigned i = 0; i < p->nwords; i++) {
		code_text(c, &p->words[i]);
		code_span(c, &p->word_spans[i]);
		c->bad |= !p->words[i];
	}
	code_span(c, &p->span);
	code_provider(c, &p->provider);
	code_bool(c, &p->is_open);
	code_bool(c, &p->args);
	code_bool(c, &p->retval);
	code_bool(c, &p->more);
	code_bool(c, &p->of_others);
	c->bad |= !p->text || !p->nwords;
}

#define CODE_ALL(c, f, list, n, code)                                                    \
	do {                                                                             \
		(f)->list = code_list(c, (f)->list, &(f)->n, sizeof(*(f)->list));          \
		for (unsigned i = 0; i < (f)->n; i++)                                     \
			code(c, &(f)->list[i]);                                           \
	} while (0)

static void code_constant(struct codec *c, struct fact_constant *k)
{
	code_text(c, &k->name);
	code_int(c, &k->value);
	c->bad |= !k->name;
}

static void code_facts(struct codec *c, struct facts **facts)
{
	struct facts *f = c->out ? *facts : arena_new_obj(c->arena, struct facts);

	if (!c->out)
		f->arena = c->arena;
	CODE_ALL(c, f, holes, nholes, code_hole);
	CODE_ALL(c, f, layouts, nlayouts, code_layout);
	CODE_ALL(c, f, constants, nconstants, code_constant);
	CODE_ALL(c, f, fields, nfields, code_field);
	CODE_ALL(c, f, points, npoints, code_point);
	*facts = f;
}

/* ---- the image ---------------------------------------------------------- */

static void code_flags(struct codec *c, struct image *img)
{
	bool *const flags[] = {&img->print_maps, &img->ring, &img->streams, &img->paths, &img->tasks, &img->calls_c,
		&img->problems, &img->kernel_stacks, &img->unwinder, &img->user_stacks, &img->user_symbols,
		&img->gates, &img->requests};
	uint32_t *const numbers[] = {&img->scratch_size, &img->record_max, &img->languages, &img->napplies,
		&img->apply_size, &img->stack_limit, &img->nnamed};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		code_bool(c, flags[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		code_int(c, numbers[i]);
	code_bytes(c, img->named, sizeof(img->named));
	c->bad |= img->nnamed > IMAGE_NAMED_MAX;
}

void code_image(struct codec *c, struct image *img)
{
	code_source(c, &img->source);
	code_part(c, &img->elf, &img->elf_size);
	code_flags(c, img);
	code_facts(c, &img->facts);
	code_progs(c, img);
	CODE_ALL(c, img, maps, nmaps, code_map);
	code_patterns(c, img);
	img->records = code_list(c, img->records, &img->nrecords, sizeof(*img->records));
	c->bad |= img->nrecords > IMAGE_RECORDS_MAX;
	for (unsigned i = 0; i < img->nrecords; i++)
		code_record(c, &img->records[i], img);
	img->texts = code_list(c, img->texts, &img->ntexts, sizeof(*img->texts));
	for (unsigned i = 0; i < img->ntexts; i++) {
		code_text(c, &img->texts[i]);
		c->bad |= !img->texts[i];
	}
	for (unsigned i = 0; i < img->facts->nfields; i++)
		c->bad |= img->facts->fields[i].place >= img->nplaces;
}
