// SPDX-License-Identifier: Apache-2.0
/* gen_facts.c - constants that depend on the machine: numbers, or holes in an image that may run on another machine. */
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "gen.h"
#include "model/attach_point.h"
#include "model/facts.h"

#define FROM_FILE "the layout of this struct comes from the debug information of a file"

static struct ir *hole(struct gen *g, const struct hole *h)
{
	return ir_hole(g->ir, (uint64_t)HOLE_MARK << 32 | facts_hole(g->opt->facts, h));
}

static struct ir *number(struct gen *g, enum hole_kind kind, uint64_t value)
{
	return g->opt->facts ? hole(g, &(struct hole){.kind = kind}) : ir_int(g->ir, value);
}

/* Returns whether the image may run on another kernel. */
static bool leaves(const struct gen *g)
{
	return g->opt->facts && !g->opt->facts->stays;
}

struct ir *gen_cpus(struct gen *g)
{
	return !leaves(g) ? ir_int(g->ir, g->opt->ncpus) : number(g, HOLE_CPUS, g->opt->ncpus);
}

struct ir *gen_start_ns(struct gen *g)
{
	return number(g, HOLE_START, g->opt->start_ns);
}

struct ir *gen_tai_ns(struct gen *g)
{
	return number(g, HOLE_TAI, g->opt->tai_ns);
}

struct ir *gen_wall_ns(struct gen *g)
{
	return number(g, HOLE_WALL, g->opt->wall_ns);
}

struct ir *gen_child(struct gen *g)
{
	return number(g, HOLE_CHILD, 0);
}

struct ir *gen_kernel_offset(struct gen *g, const char *root, const char *path, uint32_t offset)
{
	return leaves(g) ? hole(g, &(struct hole){.kind = HOLE_MEMBER, .root = root, .path = path}) :
		ir_int(g->ir, offset);
}

static const char *base_of(const struct type *t)
{
	return t->kind == TYPE_STRUCT ? t->strct.composite->name : "";
}

/* An unnamed struct cannot be looked up, so its member is found through the one that holds it: "d_name.len". Returns
 * NULL if no member with a name leads there. */
static const char *path_from_root(struct gen *g, const struct expr *n, const struct type **root, uint32_t *ret_skip)
{
	const char *path = n->field.name;

	*root = n->field.of;
	*ret_skip = 0;
	while (!strchr(base_of(*root), ' ')) {
		n = n->field.object;
		if (n->kind != EXPR_FIELD || !n->field.of || n->type->kind != TYPE_STRUCT)
			return NULL;
		path = arena_printf(g->arena, "%s.%s", n->field.name, path);
		*ret_skip += (uint32_t)strlen(n->field.name) + (*ret_skip ? 1 : 0);
		*root = n->field.of;
	}
	return path;
}

bool gen_moves(struct gen *g, const struct expr *n, struct ir **ret)
{
	const struct member *m = n->field.member;
	const struct type *root;
	struct hole h = {.kind = HOLE_MEMBER};

	if (!g->opt->facts || !n->field.of || n->field.of->strct.composite->origin == ORIGIN_SCRIPT)
		return false;
	if (n->field.of->strct.composite->origin == ORIGIN_FILE) {
		facts_bind(g->opt->facts, n->span, FROM_FILE);
		return false;
	}
	if (!leaves(g))
		return false;
	h.path = path_from_root(g, n, &root, &h.skip);
	if (!h.path) {
		facts_bind(g->opt->facts, n->span, "this is a member of an unnamed struct of the kernel");
		return false;
	}
	h.root = root->strct.composite->name;
	h.size = m->type->size;
	h.bit_offset = m->bit_offset;
	h.bit_size = m->bit_size;
	*ret = hole(g, &h);
	return true;
}

void gen_fixed(struct gen *g, const struct type *t)
{
	while (t->kind == TYPE_ARRAY)
		t = t->array.of;
	if (t->kind == TYPE_STRUCT && t->strct.composite->origin == ORIGIN_FILE)
		facts_bind(g->opt->facts, g->at, FROM_FILE);
	facts_layout(g->opt->facts, t);
}

/* ---- ids ---------------------------------------------------------------- */

void gen_current_ids(struct gen *g, struct ir *slot)
{
	struct ir_block *first = ir_block(g->ir, "first"), *nested = ir_block(g->ir, "nested");
	struct ir_block *known = ir_block(g->ir, "known");

	ir_branch(g->ir, ir_library_value(g->ir, "pid_ns_inode", 8, ".rodata"), nested, first);
	ir_at(g->ir, nested);
	ir_store(g->ir, slot, 0, 8, ir_library_u64(g->ir, "ns_ids"));
	ir_jump(g->ir, known);
	ir_at(g->ir, first);
	ir_store(g->ir, slot, 0, 8, gen_call(g, BPF_FUNC_get_current_pid_tgid, 0));
	ir_jump(g->ir, known);
	ir_at(g->ir, known);
}

/* ---- attach points ------------------------------------------------------ */

static bool is_pattern(const struct attach_point *ap)
{
	for (unsigned i = 1; i < ap->nwords; i++)
		if (strchr(ap->words[i], '*'))
			return true;
	return false;
}

void gen_point_begin(struct gen *g, const struct attach_point *ap)
{
	g->is_open = g->opt->facts && is_pattern(ap);
	if (g->opt->facts)
		*facts_point(g->opt->facts) = (struct fact_point){
			.text = ap->text, .words = ap->words, .word_spans = ap->word_spans, .nwords = ap->nwords,
			.span = ap->span, .provider = ap->provider,
			.args = ap->wants_args, .retval = ap->wants_retval, .is_open = g->is_open || ap->nplaces > 1,
			.more = ap != g->probe->points, .of_others = gen_wants_own_events(g),
		};
}

void gen_point_end(struct gen *g, const struct attach_point *ap, unsigned from)
{
	struct facts *f = g->opt->facts;
	unsigned n = g->img->nprogs - from;

	for (unsigned i = from; f && i < g->img->nprogs; i++)
		g->img->progs[i].point = f->npoints - 1;
	if (g->is_open && (n > 1 || g->bound_to_place))
		facts_bind(f, ap->span, "this pattern becomes a program for each probe that it matches here");
	if (f)
		f->points[f->npoints - 1].is_open &= n == 1;
	g->is_open = false;
}
